import { addPiece } from './add-piece.ts';

/**
 * Frames of the host⇄sandbox channel.
 *
 * Header, 10 bytes, little endian: payload length (u32), kind (u8), flags (u8), stream number (u32).
 */

/** Largest payload of one frame, in bytes. */
export const MAX_FRAME_PAYLOAD: number = 256 * 1024;
/** Bytes of the header. */
export const FRAME_HEADER_BYTES = 10;

/** The last number that a stream can have. */
export const MAX_STREAM: number = 2 ** 32 - 1;

/** What a frame carries: a JSON message or a part of one, bytes of a stream, or credit for a stream. */
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

/** A byte sequence that is no valid frame. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
}

/** Encodes the header of a frame. */
export function encodeFrameHeader(kind: number, flags: number, stream: number, length: number): Buffer {
  if (length > MAX_FRAME_PAYLOAD) {
    throw new FrameError(`Cannot encode a frame: its payload is over ${MAX_FRAME_PAYLOAD} bytes, got ${length}.`);
  }
  const header = Buffer.allocUnsafe(FRAME_HEADER_BYTES);
  header.writeUInt32LE(length, 0);
  header[4] = kind;
  header[5] = flags;
  header.writeUInt32LE(stream, 6);
  return header;
}

/**
 * Creates a decoder. It holds at most one incomplete frame; a header that claims more than the maximum is refused
 * before anything is kept for it.
 *
 * @throws {FrameError} from the returned function, on an unknown kind, unknown flags or a length over the maximum.
 */
export function createFrameDecoder(onFrame: (frame: Frame) => void): (chunk: Buffer) => void {
  let parts: Buffer[] = [];
  let held = 0;

  /** Takes `size` bytes off the held chunks. */
  const take = (size: number): Buffer => {
    const first = parts[0];
    if (first !== undefined && first.length >= size) {
      if (first.length === size) parts.shift();
      else parts[0] = first.subarray(size);
      held -= size;
      return first.subarray(0, size);
    }
    const whole = Buffer.concat(parts, held);
    parts = held > size ? [whole.subarray(size)] : [];
    held -= size;
    return whole.subarray(0, size);
  };

  let header: { kind: number; flags: number; stream: number; length: number } | null = null;
  return (chunk) => {
    if (chunk.length === 0) return;
    addPiece(parts, chunk);
    held += chunk.length;
    for (;;) {
      if (header === null) {
        if (held < FRAME_HEADER_BYTES) return;
        header = decodeHeader(take(FRAME_HEADER_BYTES));
      }
      if (held < header.length) return;
      const { kind, flags, stream, length } = header;
      header = null;
      onFrame({ kind, flags, stream, payload: length === 0 ? Buffer.alloc(0) : take(length) });
    }
  };
}

function decodeHeader(bytes: Buffer): { kind: number; flags: number; stream: number; length: number } {
  const length = bytes.readUInt32LE(0);
  const kind = bytes[4] ?? 0;
  const flags = bytes[5] ?? 0;
  if (length > MAX_FRAME_PAYLOAD) {
    throw new FrameError(`Cannot decode a frame: its payload is over ${MAX_FRAME_PAYLOAD} bytes, got ${length}.`);
  }
  if (kind < FRAME_KIND.message || kind > FRAME_KIND.credit) {
    throw new FrameError(`Cannot decode a frame: unknown kind, got ${kind}.`);
  }
  if (flags > (FLAG_MORE | FLAG_END)) throw new FrameError(`Cannot decode a frame: unknown flags, got ${flags}.`);
  return { kind, flags, stream: bytes.readUInt32LE(6), length };
}
