import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { captureOutput } from '../../../runtime/run/output-capture.ts';
import { lastingOutput } from '../../../runtime/session/lasting-output.ts';
import type { OutputSource } from '../../../runtime/run/output-capture.ts';

/** Output that one run reads from a stream that other runs read before and after it. */
async function readRun(stdout: OutputSource, write: () => void, onTake = async (): Promise<void> => undefined) {
  const pieces: string[] = [];
  const writer = {
    write: async (chunk: Uint8Array) => {
      pieces.push(Buffer.from(chunk).toString());
      await onTake();
    },
    end: () => undefined,
  };
  const capture = captureOutput(stdout, lastingOutput(new PassThrough()), {
    ...{ keptBytes: 1_000_000, totalBytes: 1_000_000, onTotal: () => undefined, stays: true },
    writers: { stdout: writer, stderr: { write: async () => undefined, end: () => undefined } },
  });
  write();
  await capture.finish('gone', 1_000);
  return pieces.join('');
}

it('lasting output gives each run the output of its own time, and output between two runs to the next', async () => {
  const stream = new PassThrough();
  const output = lastingOutput(stream);
  expect(await readRun(output, () => void stream.write('one'))).toBe('one');
  stream.write('be');
  await turn();
  stream.write('tween ');
  await turn();
  expect(await readRun(output, () => void stream.write('two'))).toBe('between two');
  expect(await readRun(output, () => undefined)).toBe('');
});

it('lasting output leaves data between two runs in its stream, except the first piece', async () => {
  const stream = new PassThrough({ highWaterMark: 1_000 });
  const output = lastingOutput(stream);
  expect(await readRun(output, () => void stream.write('one'))).toBe('one');
  let taken = 0;
  while (taken < 100 && stream.write(Buffer.alloc(500, 'x'))) {
    taken += 1;
    await turn();
  }
  expect(taken).toBeLessThan(10);
  expect((await readRun(output, () => undefined)).length).toBe(500 * (taken + 1));
});

it('lasting output waits for a slow reader, and keeps the order', async () => {
  const stream = new PassThrough();
  const output = lastingOutput(stream);
  const write = (): void => {
    for (let piece = 0; piece < 50; piece += 1) stream.write(`${piece} `);
  };
  const all = Array.from({ length: 50 }, (_, piece) => `${piece} `).join('');
  expect(await readRun(output, write, () => turn())).toBe(all);
});

it('lasting output ends a run whose stream has ended already', async () => {
  const stream = new PassThrough();
  const output = lastingOutput(stream);
  expect(await readRun(output, () => void stream.end('last'))).toBe('last');
  await turn();
  const ended = Promise.withResolvers<void>();
  output.once('end', () => ended.resolve());
  await expect(ended.promise).resolves.toBeUndefined();
});
