import type { Writable } from 'node:stream';

/**
 * Hands pieces on as they were gathered, in one system call where the stream below has one for that.
 *
 * @param done called when the last piece was taken, or with the first error
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
