import { createFrameCutter } from './frame-cutter.ts';
import type { FrameHeader } from './gathered-frames.ts';

/**
 * Frames of the host⇄sandbox channel.
 *
 * Header, 10 bytes, little endian: payload length (u32), kind (u8), flags (u8), stream number (u32).
 */

/** Largest payload of one frame, in bytes. */
export const MAX_FRAME_PAYLOAD: number = 256 * 1024;
/** Bytes of the header. */
export const FRAME_HEADER_BYTES = 10;

/** In the place of a stream number on a credit frame: all streams of a shared pace. */
export const ALL_SHARED = 0;
/** Highest stream number. */
export const MAX_STREAM: number = 2 ** 32 - 1;

/** Content of a frame: a control message or a part of one, bytes of a stream, or credit for a stream. */
export const FRAME_KIND = { message: 1, data: 2, credit: 3 } as const;
/** On a message frame: more parts follow. */
export const FLAG_MORE = 1;
/** On a data frame: the stream ends here. */
export const FLAG_END = 2;

/** One decoded frame. `payload` is a view that stays valid. */
export interface Frame {
  kind: number;
  flags: number;
  stream: number;
  payload: Buffer;
}

/** A violation of the frame protocol. */
export class FrameError extends Error {
  override readonly name = 'FrameError';

  /** Checks for a FrameError of any copy: the session server is bundled apart from the entry that reads frames. */
  static isInstance(value: unknown): value is FrameError {
    return value instanceof Error && value.name === 'FrameError';
  }
}

/** The header of a frame, for a payload of up to {@link MAX_FRAME_PAYLOAD} bytes. */
export function frameHeader(kind: number, flags: number, stream: number): FrameHeader {
  return {
    bytes: FRAME_HEADER_BYTES,
    write(target, offset, length) {
      if (length > MAX_FRAME_PAYLOAD) {
        throw new FrameError(`Cannot encode a frame: its payload is over ${MAX_FRAME_PAYLOAD} bytes, got ${length}.`);
      }
      target.writeUInt32LE(length, offset);
      target[offset + 4] = kind;
      target[offset + 5] = flags;
      target.writeUInt32LE(stream, offset + 6);
    },
  };
}

/**
 * Creates a decoder. It holds at most one incomplete frame. A header with a length over the maximum is refused before any memory is
 * reserved.
 *
 * @throws {FrameError} from the returned function, on an unknown kind, unknown flags or a length over the maximum.
 */
export function createFrameDecoder(onFrame: (frame: Frame) => void): (chunk: Buffer) => void {
  const cutter = createFrameCutter({ headerBytes: FRAME_HEADER_BYTES, payloadBytes });
  const take = (bytes: Buffer, start: number, end: number): void =>
    onFrame({
      kind: bytes[start + 4] ?? 0,
      flags: bytes[start + 5] ?? 0,
      stream: bytes.readUInt32LE(start + 6),
      payload: bytes.subarray(start + FRAME_HEADER_BYTES, end),
    });
  return (chunk) => {
    cutter.push(chunk);
    while (cutter.next(take));
  };
}

function payloadBytes(bytes: Buffer, start: number): number {
  const length = bytes.readUInt32LE(start);
  const kind = bytes[start + 4] ?? 0;
  const flags = bytes[start + 5] ?? 0;
  if (length > MAX_FRAME_PAYLOAD) {
    throw new FrameError(`Cannot decode a frame: its payload is over ${MAX_FRAME_PAYLOAD} bytes, got ${length}.`);
  }
  if (kind < FRAME_KIND.message || kind > FRAME_KIND.credit) {
    throw new FrameError(`Cannot decode a frame: unknown kind, got ${kind}.`);
  }
  if (flags > (FLAG_MORE | FLAG_END)) throw new FrameError(`Cannot decode a frame: unknown flags, got ${flags}.`);
  return length;
}
