import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync, realpathSync } from 'node:fs';
import { digestOf } from '../../text/digest.ts';

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** For content that isn't kept. Filling and hashing are synchronous, so all calls can share one buffer. */
const scratch = Buffer.allocUnsafeSlow(256 * 1024);

/** A regular file that was read, or hashed. */
export interface RegularFile {
  bytes: number;
  executable: boolean;
  /** `sha256:<64 hex>` of all bytes. */
  digest: string;
  /** The whole content; undefined when the file has more than `keep` bytes. */
  content?: Buffer;
}

/** How much of a file is wanted. */
export interface ReadRegularFileOptions {
  /** Bytes; the content of a larger file isn't kept, only hashed. */
  keep: number;
  /** Bytes; a larger file is refused before it is read. */
  limit: number;
}

/** The file has more bytes than the caller takes. */
export class FileTooLarge extends Error {
  readonly bytes: number;

  constructor(path: string, bytes: number) {
    super(`${path} has ${bytes} bytes`);
    this.name = 'FileTooLarge';
    this.bytes = bytes;
  }
}

/**
 * Reads a regular file of an untrusted folder. It never follows a link, waits on a fifo or reads a device. It refuses a
 * file that is not where its path says: this detects a folder that was swapped for a link.
 *
 * @param path absolute path without links in its folders
 * @param options how much of the file is wanted
 * @returns size, mode and digest, with the content if it is small enough
 * @throws FileTooLarge when the file is over the limit
 * @throws Error when the file can't be opened, is no regular file, or lies elsewhere
 */
export function readRegularFile(path: string, options: ReadRegularFileOptions): RegularFile {
  const descriptor = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const found = fstatSync(descriptor);
    if (!found.isFile()) throw new Error(`${path} is no regular file`);
    if (found.size > options.limit) throw new FileTooLarge(path, found.size);
    assertPlace(descriptor, path);
    const executable = (found.mode & 0o111) !== 0;
    if (found.size > options.keep) return { ...hashPieces(descriptor, found.size), executable };
    const content = readWhole(descriptor, found.size);
    return { bytes: content.length, executable, digest: digestOf(content), content };
  } finally {
    closeSync(descriptor);
  }
}

function assertPlace(descriptor: number, path: string): void {
  let place: string;
  try {
    place = readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    // Without /proc the check goes by name: it still finds a link that is not removed again.
    place = realpathSync.native(path);
  }
  if (place !== path) throw new Error(`${path} is reached through a link`);
}

function readWhole(descriptor: number, size: number): Buffer {
  const content = Buffer.allocUnsafe(size);
  let length = 0;
  while (length < size) {
    const read = readSync(descriptor, content, length, size - length, null);
    if (read === 0) break;
    length += read;
  }
  return content.subarray(0, length);
}

function hashPieces(descriptor: number, size: number): { bytes: number; digest: string } {
  const first = readSync(descriptor, scratch, 0, Math.min(scratch.length, size), null);
  if (first === size) return { bytes: size, digest: digestOf(scratch.subarray(0, size)) };
  const hash = createHash('sha256');
  let bytes = 0;
  for (
    let read = first;
    read > 0;
    read = readSync(descriptor, scratch, 0, Math.min(scratch.length, size - bytes), null)
  ) {
    hash.update(scratch.subarray(0, read));
    bytes += read;
    if (bytes === size) break;
  }
  return { bytes, digest: `sha256:${hash.digest('hex')}` };
}
