import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { writeTogether } from '../../src/protocol/channel/write-together.ts';

/** Records the pieces of each write to the system. Calls `done` of the write one turn later. */
class CountedWrites extends Writable {
  readonly writes: string[][] = [];
  readonly #failure: Error | undefined;
  constructor(failure?: Error) {
    super();
    this.#failure = failure;
  }
  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    this.#take([chunk], done);
  }
  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error) => void): void {
    this.#take(
      chunks.map(({ chunk }) => chunk),
      done,
    );
  }
  #take(pieces: Buffer[], done: (error?: Error) => void): void {
    this.writes.push(pieces.map((piece) => piece.toString()));
    setImmediate(() => done(this.#failure));
  }
}

const pieces = (...texts: string[]): { chunk: Buffer }[] => texts.map((text) => ({ chunk: Buffer.from(text) }));

/** Writes pieces together; returns the arguments of `done`, one entry per call. */
async function written(stream: Writable, texts: string[]): Promise<unknown[]> {
  const calls: unknown[] = [];
  writeTogether(stream, pieces(...texts), (error) => void calls.push(error ?? 'taken'));
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
  return calls;
}

it('writes pieces in order and in one write, and calls `done` once', async () => {
  const stream = new CountedWrites();
  expect(await written(stream, ['a', 'b', 'c'])).toEqual(['taken']);
  expect(await written(stream, ['d'])).toEqual(['taken']);
  expect(stream.writes).toEqual([['a', 'b', 'c'], ['d']]);
});

it('calls `done` only after the stream has taken the pieces', async () => {
  const stream = new CountedWrites();
  let taken = false;
  writeTogether(stream, pieces('a', 'b'), () => (taken = true));
  await new Promise((resolve) => process.nextTick(resolve));
  expect([stream.writes, taken]).toEqual([[['a', 'b']], false]);
  await new Promise<void>((resolve) => stream.end(resolve));
  expect(taken).toBe(true);
});

it('writes pieces one by one to a stream without writev', async () => {
  const seen: string[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      seen.push(chunk.toString());
      setImmediate(done);
    },
  });
  expect(await written(stream, ['a', 'b', 'c'])).toEqual(['taken']);
  expect(seen).toEqual(['a', 'b', 'c']);
});

it('calls `done` also without any pieces', async () => {
  expect(await written(new CountedWrites(), [])).toEqual(['taken']);
});

it('passes on the error of the stream once', async () => {
  const failure = new Error('EPIPE');
  const stream = new CountedWrites(failure);
  // The stream emits the same error.
  stream.on('error', () => undefined);
  expect(await written(stream, ['a', 'b'])).toEqual([failure]);
  expect(await written(stream, ['c'])).toEqual([expect.objectContaining({ code: 'ERR_STREAM_DESTROYED' })]);
});
