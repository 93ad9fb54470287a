import type { Writable } from 'node:stream';

/**
 * Writes several pieces in one system call, if the stream supports it (writev).
 *
 * @param done called after the last piece, or with the error of its write
 */
export function writeTogether(
  stream: Writable,
  pieces: readonly { chunk: Uint8Array }[],
  done: (error?: Error | null) => void,
): void {
  stream.cork();
  for (const { chunk } of pieces.slice(0, -1)) stream.write(chunk);
  stream.write(pieces.at(-1)?.chunk ?? new Uint8Array(0), done);
  stream.uncork();
}
