import { addPiece } from '../../protocol/channel/add-piece.ts';
import type { StreamReader } from '../../protocol/channel/channel.ts';

/** Collects a stream of at most `maxBytes`; a sandbox that sends more breaks its channel. */
export function collectBytes(maxBytes: number, whole: (bytes: Buffer) => void): StreamReader {
  const pieces: Buffer[] = [];
  let size = 0;
  return {
    data(chunk) {
      size += chunk.length;
      if (size > maxBytes) throw new Error(`a stream of more than ${maxBytes} bytes`);
      addPiece(pieces, chunk);
    },
    end: () => whole(Buffer.concat(pieces)),
  };
}
