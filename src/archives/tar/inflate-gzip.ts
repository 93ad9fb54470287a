import { crc32, createInflateRaw } from 'node:zlib';
import { ArchiveRefusal } from '../checks/archive-refused.ts';

const HEADER = 10;
const TRAILER = 8;
const CHUNK = 64 * 1024;
/** Flag bits of the header. */
const FLAGS = { checksum: 2, extra: 4, name: 8, comment: 16, reserved: 0xe0 };

/** Checks that may be left out. */
export interface InflateGzipOptions {
  signal?: AbortSignal | undefined;
  /** Ignores bytes after the first member, as some programs do. */
  takesMore?: boolean;
  takesChecksum?: boolean;
}

/**
 * Inflates gzip data chunk by chunk. Only one member is allowed: some programs read further members or bytes after the first, others do not.
 *
 * @throws ArchiveRefusal after the last readable chunk
 */
export async function* inflateGzip(bytes: Uint8Array, options: InflateGzipOptions = {}): AsyncGenerator<Buffer> {
  const begin = dataOffset(bytes);
  const inflater = createInflateRaw({ chunkSize: CHUNK });
  inflater.end(bytes.subarray(begin));
  let checksum = 0;
  let size = 0;
  try {
    for await (const piece of inflater as AsyncIterable<Buffer>) {
      options.signal?.throwIfAborted();
      checksum = crc32(piece, checksum);
      size += piece.length;
      yield piece;
    }
  } catch (error) {
    options.signal?.throwIfAborted();
    throw new ArchiveRefusal('tar.format', 'it is cut off, or not packed by gzip', error);
  }
  const end = begin + inflater.bytesWritten;
  if (bytes.length < end + TRAILER) throw new ArchiveRefusal('tar.format', 'it is cut off');
  const trailer = Buffer.from(bytes.buffer, bytes.byteOffset + end, TRAILER);
  const isWhole = trailer.readUInt32LE(0) === checksum && trailer.readUInt32LE(4) === size % 2 ** 32;
  if (!isWhole && options.takesChecksum !== true)
    throw new ArchiveRefusal('tar.checksum', 'its checksum differs from the declared one');
  if (bytes.length > end + TRAILER && options.takesMore !== true)
    throw new ArchiveRefusal('tar.ambiguous', `${bytes.length - end - TRAILER} bytes follow its end`);
}

/** Offset of the data, after a header with an optional name, comment and more. */
function dataOffset(bytes: Uint8Array): number {
  const [first, second, method, flags = 0] = bytes;
  if (first !== 0x1f || second !== 0x8b || method !== 8 || (flags & FLAGS.reserved) !== 0)
    throw new ArchiveRefusal('tar.format', 'it is not packed by gzip');
  let at = HEADER;
  if ((flags & FLAGS.extra) !== 0) at += 2 + (bytes[at] ?? 0) + (bytes[at + 1] ?? 0) * 256;
  for (const flag of [FLAGS.name, FLAGS.comment]) {
    if ((flags & flag) === 0) continue;
    const end = bytes.indexOf(0, at);
    if (end < 0) throw new ArchiveRefusal('tar.format', 'it is cut off');
    at = end + 1;
  }
  if ((flags & FLAGS.checksum) !== 0) at += 2;
  if (at > bytes.length) throw new ArchiveRefusal('tar.format', 'it is cut off');
  return at;
}
