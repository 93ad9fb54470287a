import { Writable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createGatheredFrames, type FrameHeader } from '../../src/protocol/channel/gathered-frames.ts';

const header: FrameHeader = { bytes: 4, write: (target, offset, length) => void target.writeUInt32LE(length, offset) };

function framed(payload: string | Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(Buffer.byteLength(payload));
  return Buffer.concat([length, Buffer.from(payload as string)]);
}

function gathering(): { frames: ReturnType<typeof createGatheredFrames>; written: Buffer[] } {
  const written: Buffer[] = [];
  const stream = new Writable({ write: (chunk: Buffer, _encoding, done) => (written.push(chunk), done()) });
  return { frames: createGatheredFrames(stream), written };
}

describe('gathered frames', () => {
  it('come out unchanged and in order, for any sizes', () => {
    const aText = fc.string({ unit: 'binary', maxLength: 60 });
    const aPayload = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      aText,
      fc.tuple(aText, fc.constantFrom(20, 700, 3_000)).map(([text, times]) => text.repeat(times).slice(0, 20_000)),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(aPayload, fc.boolean()), { maxLength: 40 }), (rows) => {
        const { frames, written } = gathering();
        for (const [payload, flushes] of rows) {
          frames.add(header, payload);
          if (flushes) frames.flush();
        }
        frames.flush();
        expect(frames.bytes).toBe(0);
        expect(Buffer.concat(written).equals(Buffer.concat(rows.map(([payload]) => framed(payload))))).toBe(true);
      }),
    );
  });

  it('are written in one piece if they are small, without a rest', () => {
    const { frames, written } = gathering();
    for (let count = 1; count <= 7; count += 1) frames.add(header, 'small');
    expect([frames.isEnough, frames.bytes, written.length]).toEqual([false, 63, 0]);
    frames.add(header, 'small');
    expect(frames.isEnough).toBe(true);
    frames.flush();
    expect([frames.isEnough, frames.bytes, written.map(({ length }) => length)]).toEqual([false, 0, [72]]);
  });

  it('do not change earlier writes, even when the buffer is full', () => {
    const { frames, written } = gathering();
    for (let count = 0; count < 40; count += 1) {
      frames.add(header, Buffer.alloc(1_000, count));
      frames.flush();
    }
    expect(written.map((bytes) => bytes[4])).toEqual(Array.from({ length: 40 }, (_, count) => count));
    expect(written.every((bytes) => bytes.length === 1_004)).toBe(true);
  });

  it('are not copied if they are large', () => {
    const { frames, written } = gathering();
    const large = Buffer.alloc(10_000, 1);
    frames.add(header, 'first');
    frames.add(header, large);
    expect(written.map(({ length }) => length)).toEqual([9, 4, 10_000]);
    expect(written[2]).toBe(large);
  });
});
