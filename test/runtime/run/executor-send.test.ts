import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';

const LANGUAGE = fileURLToPath(new URL('../../../runtime/languages/javascript', import.meta.url));
/** Fills its message pipe, which it made non-blocking, and tells the processor time of the time that this took. */
const PROGRAM = `
const { Socket } = require('node:net');
new Socket({ fd: 4, readable: false });
const bridge = globalThis[Symbol.for('skillcell.bridge')];
const before = process.cpuUsage();
for (let call = 0; call < 64; call += 1) void bridge.call('tool', 'x', 'x'.repeat(65_536));
const { user, system } = process.cpuUsage(before);
console.log((user + system) / 1_000);
process.exit(0);
`;
/** Long beside what a slow processor takes to send. */
const SILENT_MS = 3_000;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skillcell-send-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

it('a message waits for room in its pipe without using a processor', async () => {
  const path = join(folder, 'main.cjs');
  writeFileSync(path, PROGRAM);
  const child = spawn(process.execPath, [join(LANGUAGE, 'executor.ts'), join(LANGUAGE, 'sample-module.mjs')], {
    stdio: ['ignore', 'pipe', 'inherit', 'pipe', 'pipe'],
  });
  const [, stdout, , messages, answers] = child.stdio as unknown as [null, Readable, null, Writable, Readable];
  await once(answers, 'readable');
  const run = Buffer.from(JSON.stringify({ type: 'run', path, args: [], env: {}, cwd: folder, skills: folder }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(run.length);
  messages.write(Buffer.concat([length, run]));
  await new Promise((resolve) => setTimeout(resolve, SILENT_MS));
  answers.resume();
  const [printed] = (await once(stdout.setEncoding('utf8'), 'data')) as [string];
  expect(Number(printed)).toBeGreaterThan(0);
  expect(Number(printed)).toBeLessThan(SILENT_MS / 2);
  if (child.exitCode === null) await once(child, 'exit');
  expect(child.exitCode).toBe(0);
});
