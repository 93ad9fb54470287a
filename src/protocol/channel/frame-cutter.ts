import { addPiece } from './add-piece.ts';

/** Cuts what arrives into frames: a header of a fixed size, which says how long the payload behind it is. */
export interface FrameCutter {
  push(chunk: Buffer): void;
  /**
   * Hands on the next frame that is whole, if there is one.
   *
   * @param take gets the bytes in which the frame lies, from where to where; views of them stay valid
   */
  next(take: (bytes: Buffer, start: number, end: number) => void): boolean;
}

/** How the frames begin. */
export interface FrameForm {
  headerBytes: number;
  /** Bytes of the payload. What it throws, `next` throws; a length is refused before anything is kept for it. */
  payloadBytes(bytes: Buffer, start: number): number;
}

/** Creates a cutter; it holds the chunks of at most one incomplete frame, and what has not been asked for. */
export function createFrameCutter({ headerBytes, payloadBytes }: FrameForm): FrameCutter {
  /** What is being cut, and how much of it is done. */
  let bytes: Buffer = Buffer.alloc(0);
  let done = 0;
  /** What came after it. */
  let pieces: Buffer[] = [];
  let waiting = 0;
  /** Bytes of the frame that is next, as far as they are known. */
  let needed = headerBytes;

  /** Whether so many bytes are there in one piece. */
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
