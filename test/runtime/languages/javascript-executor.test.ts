import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isPacked, readCall } from '../../../src/protocol/channel/packed-call.ts';
import { CONNECTED, runHeldNode, startHeldNode } from '../../fixtures/held-node.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'skillcell-executor-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

/** Runs a program in a held Node, without an entry and without answers to its calls. Returns its messages and its exit code. */
async function saidBy(code: string): Promise<{ messages: Record<string, unknown>[]; code: number | null }> {
  const path = join(cwd, 'program.mjs');
  writeFileSync(path, `${CONNECTED}const { call } = bridge;\n${code}`);
  const child = await runHeldNode(path, cwd, ['ignore', 'ignore', 'inherit', 'pipe', 'pipe']);
  const ended = once(child, 'exit');
  const output = child.stdio[4] as Readable;
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
  const [status] = (await ended) as [number | null];
  return { messages: messages.filter(({ type }) => type !== 'waiting'), code: status };
}

it('a held Node ends if its supervisor was killed while it started', async () => {
  const names = ['to-program', 'from-program'].map((name) => join(cwd, name));
  execFileSync('mkfifo', names);
  const both = names.map((name) => openSync(name, 'r+'));
  const ends = [openSync(names[0] ?? '', 'r'), openSync(names[1] ?? '', 'w')];
  for (const descriptor of both) closeSync(descriptor);
  const child = await startHeldNode(join(cwd, 'program.mjs'), cwd, ['ignore', 'ignore', 'ignore', ...ends]);
  for (const descriptor of ends) closeSync(descriptor);
  const end = await Promise.race([once(child, 'exit'), pause(20_000, ['still waits'])]);
  child.kill('SIGKILL');
  expect(end[0]).not.toBe('still waits');
});

describe('the calls of a program', () => {
  it('leave in groups of eight if made together', async () => {
    const { messages, code } = await saidBy(`
      import { readFileSync } from 'node:fs';
      const writes = () => Number(/syscw: (\\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))[1]);
      const before = writes();
      for (let made = 0; made < 200; made += 1) void call('tool', 'x.echo', {});
      await new Promise(setImmediate);
      const made = writes() - before;
      process.on('exit', () => (process.exitCode = made));
      process.exit();`);
    expect(messages.map(({ id }) => id)).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
    expect(code).toBeLessThan(200 / 8 + 5);
  });

  it('are all made when the program ends in the same tick', async () => {
    const { messages, code } = await saidBy(`
      for (let made = 0; made < 3; made += 1) void call('tool', 'x.echo', {});
      process.exit(5);`);
    expect(messages).toMatchObject([{ id: 1 }, { id: 2 }, { id: 3 }]);
    expect(code).toBe(5);
  });

  it('are not gathered without limit', async () => {
    const { messages } = await saidBy(`
      const text = 'x'.repeat(60_000);
      for (let made = 0; made < 5; made += 1) void call('tool', 'x.echo', { text });
      process.kill(process.pid, 'SIGKILL');`);
    expect(messages.map(({ id }) => id)).toEqual([1, 2, 3, 4]);
  });
});
