import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CONNECTED, runHeldNode } from '../../fixtures/held-node.ts';

/** Fills its message pipe after making it non-blocking, and prints its processor time during that. */
const PROGRAM = `${CONNECTED}
import { Socket } from 'node:net';
new Socket({ fd: Module[Symbol.for('skillcell.bridge')].outgoing, readable: false });
const before = process.cpuUsage();
for (let call = 0; call < 64; call += 1) void bridge.call('tool', 'x', 'x'.repeat(65_536));
const { user, system } = process.cpuUsage(before);
console.log((user + system) / 1_000);
process.exit(0);
`;
/** Long compared with the send time on a slow processor. */
const SILENT_MS = 3_000;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skillcell-send-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

it('a message waits for room in its pipe without using a processor', async () => {
  const path = join(folder, 'main.mjs');
  writeFileSync(path, PROGRAM);
  const child = await runHeldNode(path, folder, ['ignore', 'pipe', 'inherit', 'pipe', 'pipe']);
  const [stdout, answers] = [child.stdio[1] as Readable, child.stdio[4] as Readable];
  await new Promise((resolve) => setTimeout(resolve, SILENT_MS));
  answers.resume();
  const [printed] = (await once(stdout.setEncoding('utf8'), 'data')) as [string];
  expect(Number(printed)).toBeGreaterThan(0);
  expect(Number(printed)).toBeLessThan(SILENT_MS / 2);
  if (child.exitCode === null) await once(child, 'exit');
  expect(child.exitCode).toBe(0);
});
