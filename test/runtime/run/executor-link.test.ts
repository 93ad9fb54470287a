import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { connectExecutor } from '../../../runtime/run/program/executor-link.ts';
import { packAnswer, packCall } from '../../../src/protocol/channel/packed-call.ts';

const ANSWER_BYTES = 1024 * 1024;
const CALLS = 100;

function call(id: number): Buffer {
  const body = packCall(id, 'tool', 'big', { json: 'null' });
  const length = Buffer.alloc(4);
  length.writeUInt32LE(body.length);
  return Buffer.concat([length, body]);
}

describe('connectExecutor()', () => {
  it('accepts no more calls of a program until it has read its answers', async () => {
    const fromProgram = new PassThrough();
    const toProgram = new PassThrough();
    const link = connectExecutor(fromProgram, toProgram, 1024);
    let answered = 0;
    let mostUnread = 0;
    link.onCall = () => {
      answered += 1;
      link.sendPacked(packAnswer(answered, true, { json: JSON.stringify('x'.repeat(ANSWER_BYTES)) }));
      mostUnread = Math.max(mostUnread, toProgram.writableLength);
    };
    // Separately and together: calls in one chunk are held back as well.
    for (let id = 0; id < CALLS / 2; id += 1) fromProgram.write(call(id));
    fromProgram.write(Buffer.concat(Array.from({ length: CALLS / 2 }, (_, index) => call(CALLS / 2 + index))));
    await new Promise(setImmediate);
    const heldAt = answered;
    expect(heldAt).toBeGreaterThan(0);
    expect(heldAt * ANSWER_BYTES).toBeLessThan(34 * ANSWER_BYTES);
    // No call moves without a reader.
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(answered).toBe(heldAt);

    let read = 0;
    for await (const chunk of toProgram) {
      read += (chunk as Buffer).length;
      if (read > CALLS * ANSWER_BYTES) break;
    }
    expect(answered).toBe(CALLS);
    expect(mostUnread).toBeLessThan(34 * ANSWER_BYTES);
  });

  it('writes the answers of one tick together, eight at a time', async () => {
    const writes: number[] = [];
    const count = (bytes: Buffer): void => void writes.push(bytes.toString().split('answered').length - 1);
    const toProgram = new Writable({
      write: (chunk: Buffer, _encoding, done) => (count(chunk), done()),
      writev: (chunks, done) => (count(Buffer.concat(chunks.map(({ chunk }) => chunk as Buffer))), done()),
    });
    const link = connectExecutor(new PassThrough(), toProgram, 1024);
    for (let tick = 0; tick < 2; tick += 1) {
      for (let id = 1; id <= 20; id += 1) link.sendPacked(packAnswer(id, true, { json: '"answered"' }));
      await new Promise(setImmediate);
    }
    expect(writes).toEqual([8, 8, 4, 8, 8, 4]);
  });
});
