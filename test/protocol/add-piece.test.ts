import { describe, expect, it } from 'vitest';
import { addPiece } from '../../src/protocol/channel/add-piece.ts';
import { createFrameDecoder, FRAME_KIND, MAX_FRAME_PAYLOAD, type Frame } from '../../src/protocol/channel/frame.ts';
import { frameBytes } from './frame-bytes.ts';

describe('addPiece()', () => {
  it('keeps the bytes in order and joins them into few pieces', () => {
    const pieces: Buffer[] = [];
    const all: Buffer[] = [];
    for (const size of [0, 1, 5, 3, 2, 70_000, 1, 1, 60_000, 10_000, ...Array.from({ length: 5_000 }, () => 1)]) {
      const piece = Buffer.alloc(size, all.length);
      all.push(piece);
      addPiece(pieces, piece);
    }
    expect(Buffer.concat(pieces).equals(Buffer.concat(all))).toBe(true);
    expect(pieces.length).toBeLessThan(32);
  });

  it('keeps the memory of a frame that arrives byte by byte small', () => {
    const bytes = frameBytes(FRAME_KIND.data, 0, 1, Buffer.alloc(MAX_FRAME_PAYLOAD, 7));
    const frames: Frame[] = [];
    const decode = createFrameDecoder((frame) => void frames.push(frame));
    const before = process.memoryUsage();
    for (let at = 0; at < bytes.length - 1; at += 1) decode(bytes.subarray(at, at + 1));
    expect(frames).toEqual([]);
    const { heapUsed, external } = process.memoryUsage();
    expect(heapUsed + external - before.heapUsed - before.external).toBeLessThan(16 * 1024 * 1024);
    decode(bytes.subarray(-1));
    expect(frames.map(({ payload }) => payload.equals(Buffer.alloc(MAX_FRAME_PAYLOAD, 7)))).toEqual([true]);
  });
});
