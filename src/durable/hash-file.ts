import { createHash, hash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** Shared by all calls: filling and hashing it are synchronous. */
const piece = Buffer.allocUnsafeSlow(256 * 1024);

/** Size, mode and digest of a file. */
export interface HashedFile {
  bytes: number;
  executable: boolean;
  /** `sha256:<64 hex>` */
  digest: string;
}

/**
 * Hashes a regular file. Follows no link as the last part of the path, never waits on a fifo, and never reads a device.
 *
 * @param limit most bytes
 * @throws Error if the file cannot be opened, is not a regular file, or is larger
 */
export function hashFile(path: string, limit: number): HashedFile {
  const descriptor = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw new Error('no regular file');
    if (stats.size > limit) throw new Error(`over ${limit} bytes`);
    const executable = (stats.mode & 0o111) !== 0;
    const first = readSync(descriptor, piece, 0, piece.length, null);
    // The reported size is read, so no further read is needed.
    if (first === stats.size && first < piece.length)
      return { bytes: first, executable, digest: `sha256:${hash('sha256', piece.subarray(0, first))}` };
    return { ...hashOn(descriptor, first, limit), executable };
  } finally {
    closeSync(descriptor);
  }
}

function hashOn(descriptor: number, first: number, limit: number): { bytes: number; digest: string } {
  const whole = createHash('sha256');
  let bytes = 0;
  for (let read = first; read > 0; read = readSync(descriptor, piece, 0, piece.length, null)) {
    bytes += read;
    if (bytes > limit) throw new Error(`over ${limit} bytes`);
    whole.update(piece.subarray(0, read));
  }
  return { bytes, digest: `sha256:${whole.digest('hex')}` };
}
