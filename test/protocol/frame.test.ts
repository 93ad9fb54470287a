import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createFrameDecoder,
  FRAME_HEADER_BYTES,
  frameHeader,
  FrameError,
  MAX_FRAME_PAYLOAD,
  type Frame,
} from '../../src/protocol/channel/frame.ts';
import { frameBytes } from './frame-bytes.ts';

const aFrame = fc.record({
  kind: fc.integer({ min: 1, max: 3 }),
  flags: fc.integer({ min: 0, max: 3 }),
  stream: fc.integer({ min: 0, max: 0xffff_ffff }),
  payload: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
});

/** Decodes chunks and returns the frames, payloads copied. */
function decodeAll(chunks: readonly Buffer[]): Frame[] {
  const frames: Frame[] = [];
  const decode = createFrameDecoder((frame) => frames.push({ ...frame, payload: Buffer.from(frame.payload) }));
  for (const chunk of chunks) decode(chunk);
  return frames;
}

/** Cuts bytes at the given places, modulo their length. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [...new Set(places.map((place) => place % (bytes.length + 1)))].toSorted((a, b) => a - b);
  return [0, ...at].map((from, index) => bytes.subarray(from, at[index] ?? bytes.length));
}

describe('the frame codec', () => {
  it('gives the same frames for any split into chunks', () => {
    fc.assert(
      fc.property(fc.array(aFrame, { maxLength: 12 }), fc.array(fc.nat()), (frames, places) => {
        const bytes = Buffer.concat(frames.map((row) => frameBytes(row.kind, row.flags, row.stream, row.payload)));
        expect(decodeAll(cut(bytes, places))).toEqual(frames);
        expect(decodeAll(Array.from(bytes, (byte) => Buffer.of(byte)))).toEqual(frames);
      }),
    );
  });

  it('writes a header that its own decoder reads', () => {
    const header = Buffer.alloc(FRAME_HEADER_BYTES);
    frameHeader(2, 2, 0xffff_ffff).write(header, 0, 3);
    expect(decodeAll([Buffer.concat([header, Buffer.from('abc')])])).toEqual([
      { kind: 2, flags: 2, stream: 0xffff_ffff, payload: Buffer.from('abc') },
    ]);
  });

  it('refuses to encode a payload over the maximum', () => {
    const header = Buffer.alloc(FRAME_HEADER_BYTES);
    expect(() => frameHeader(1, 0, 0).write(header, 0, MAX_FRAME_PAYLOAD + 1)).toThrow(FrameError);
    frameHeader(1, 0, 0).write(header, 0, MAX_FRAME_PAYLOAD);
    expect(header.readUInt32LE(0)).toBe(MAX_FRAME_PAYLOAD);
  });

  it('keeps a payload valid after later chunks', () => {
    const payloads: Buffer[] = [];
    const decode = createFrameDecoder((frame) => payloads.push(frame.payload));
    const source = frameBytes(2, 0, 1, Buffer.from('first'));
    decode(source);
    decode(frameBytes(2, 0, 1, Buffer.from('second')));
    expect(payloads.map(String)).toEqual(['first', 'second']);
  });

  it.each([
    ['E01 a length of 4 GiB - 1', frameBytes(2, 0, 1, Buffer.alloc(0), 0xffff_ffff)],
    ['E01 one byte over the maximum', frameBytes(2, 0, 1, Buffer.alloc(0), MAX_FRAME_PAYLOAD + 1)],
    ['C05 kind 0', frameBytes(0, 0, 1, Buffer.alloc(0))],
    ['C05 kind 4', frameBytes(4, 0, 1, Buffer.alloc(0))],
    ['C05 kind 255', frameBytes(255, 0, 1, Buffer.alloc(0))],
    ['unknown flags', frameBytes(1, 4, 1, Buffer.alloc(0))],
  ])('refuses a header with %s before it reserves memory', (_name, bytes) => {
    expect(() => decodeAll([bytes])).toThrow(FrameError);
    expect(() => decodeAll(Array.from(bytes, (byte) => Buffer.of(byte)))).toThrow(FrameError);
  });

  it('E01 takes a frame of exactly the maximum, also in small pieces', () => {
    const payload = Buffer.alloc(MAX_FRAME_PAYLOAD, 7);
    const bytes = frameBytes(2, 0, 1, payload);
    expect(decodeAll([bytes])[0]?.payload.equals(payload)).toBe(true);
    const pieces = Array.from({ length: Math.ceil(bytes.length / 3) }, (_, index) =>
      bytes.subarray(index * 3, index * 3 + 3),
    );
    expect(decodeAll(pieces)[0]?.payload.equals(payload)).toBe(true);
  });

  it('M1 takes 4,000 one-byte frames, and 200,000 empty ones, in one chunk', () => {
    const one = frameBytes(2, 0, 1, Buffer.from('x'));
    expect(decodeAll([Buffer.concat(Array.from({ length: 4_000 }, () => one))])).toHaveLength(4_000);
    const empty = frameBytes(2, 0, 1, Buffer.alloc(0));
    expect(decodeAll([Buffer.concat(Array.from({ length: 200_000 }, () => empty))])).toHaveLength(200_000);
  });

  it('C04 throws only FrameError for random bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 64 }), { maxLength: 40 }), (chunks) => {
        try {
          decodeAll(chunks.map((bytes) => Buffer.from(bytes)));
        } catch (error) {
          expect(error).toBeInstanceOf(FrameError);
        }
      }),
    );
  });
});
