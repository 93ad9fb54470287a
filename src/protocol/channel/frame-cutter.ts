import { addPiece } from './add-piece.ts';

/** Cuts a byte stream into frames: a header of fixed size with the length of the payload that follows. */
export interface FrameCutter {
  push(chunk: Buffer): void;
  /**
   * Passes on the next whole frame, if there is one.
   *
   * @param take gets a buffer, and the start and end of the frame in it; views of the buffer stay valid
   * @returns false if no whole frame is there
   */
  next(take: (bytes: Buffer, start: number, end: number) => void): boolean;
}

/** Form of the frame header. */
export interface FrameForm {
  headerBytes: number;
  /** Length of the payload. `next` passes on its errors; a length is refused before any memory is reserved. */
  payloadBytes(bytes: Buffer, start: number): number;
}

/** Creates a cutter. It holds the chunks of at most one incomplete frame, and the frames that `next` has not taken. */
export function createFrameCutter({ headerBytes, payloadBytes }: FrameForm): FrameCutter {
  /** The current buffer, and the offset up to which it is cut. */
  let bytes: Buffer = Buffer.alloc(0);
  let done = 0;
  /** The chunks after it. */
  let pieces: Buffer[] = [];
  let waiting = 0;
  /** Bytes of the next frame; only the header until its length is known. */
  let needed = headerBytes;

  /** Makes the next `size` bytes contiguous; false if there are fewer. */
  const has = (size: number): boolean => {
    if (bytes.length - done >= size) return true;
    if (bytes.length - done + waiting < size) return false;
    const rest = bytes.subarray(done);
    bytes = pieces.length === 1 && rest.length === 0 ? (pieces[0] as Buffer) : Buffer.concat([rest, ...pieces]);
    done = 0;
    pieces = [];
    waiting = 0;
    return true;
  };

  return {
    push(chunk) {
      if (chunk.length === 0) return;
      addPiece(pieces, chunk);
      waiting += chunk.length;
    },
    next(take) {
      if (!has(needed)) return false;
      if (needed === headerBytes) needed += payloadBytes(bytes, done);
      if (!has(needed)) return false;
      const start = done;
      done += needed;
      needed = headerBytes;
      take(bytes, start, done);
      return true;
    },
  };
}
