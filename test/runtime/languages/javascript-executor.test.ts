import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isPacked, readCall } from '../../../src/protocol/packed-call.ts';

const folder = fileURLToPath(new URL('../../../runtime/languages/javascript/', import.meta.url));

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'skillcell-executor-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const BRIDGE = `const { call } = globalThis[Symbol.for('skillcell.bridge')];`;

/** Runs a program in an executor without an entry; nobody answers its calls. Returns what it says after it was started. */
async function saidBy(code: string): Promise<Record<string, unknown>[]> {
  const path = join(cwd, 'program.mjs');
  writeFileSync(path, `${BRIDGE}\n${code}`);
  const args = [join(folder, 'executor.ts'), join(folder, 'sample-module.mjs')];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit', 'pipe', 'pipe'] });
  const [input, output] = child.stdio.slice(3) as [Writable, Readable];
  input.on('error', () => undefined);
  const body = Buffer.from(JSON.stringify({ type: 'run', path, args: [], env: {}, cwd, skills: cwd }));
  const header = Buffer.alloc(4);
  header.writeUInt32LE(body.length);
  input.write(Buffer.concat([header, body]));
  const said = Buffer.concat((await output.toArray()) as Buffer[]);
  const messages: Record<string, unknown>[] = [];
  for (let offset = 0; offset < said.length;) {
    const end = offset + 4 + said.readUInt32LE(offset);
    const message = said.subarray(offset + 4, end);
    messages.push(
      isPacked(message) ? { ...readCall(message) } : (JSON.parse(message.toString()) as Record<string, unknown>),
    );
    offset = end;
  }
  return messages.filter(({ type }) => type !== 'waiting');
}

describe('the calls of a program', () => {
  it('leave eight at a time when they are made together', async () => {
    const messages = await saidBy(`
      import { readFileSync } from 'node:fs';
      const writes = () => Number(/syscw: (\\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))[1]);
      const before = writes();
      for (let made = 0; made < 200; made += 1) void call('tool', 'x.echo', {});
      await new Promise(setImmediate);
      const made = writes() - before;
      process.on('exit', () => (process.exitCode = made));
      process.exit();`);
    expect(messages.map(({ id }) => id)).toEqual([...Array.from({ length: 200 }, (_, index) => index + 1), undefined]);
    expect(messages.at(-1)?.['code']).toBeLessThan(200 / 8 + 5);
  });

  it('are all made when the program ends in the same tick', async () => {
    const messages = await saidBy(`
      for (let made = 0; made < 3; made += 1) void call('tool', 'x.echo', {});
      process.exit(5);`);
    expect(messages).toMatchObject([{ id: 1 }, { id: 2 }, { id: 3 }, { type: 'exit', code: 5 }]);
  });

  it('do not gather without end', async () => {
    const messages = await saidBy(`
      const text = 'x'.repeat(60_000);
      for (let made = 0; made < 5; made += 1) void call('tool', 'x.echo', { text });
      process.kill(process.pid, 'SIGKILL');`);
    expect(messages.map(({ id }) => id)).toEqual([1, 2, 3, 4]);
  });
});
