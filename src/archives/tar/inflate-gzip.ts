import { crc32, createInflateRaw } from 'node:zlib';
import { ArchiveRefusal } from '../checks/archive-refused.ts';

const HEADER = 10;
const TRAILER = 8;
const CHUNK = 64 * 1024;
/** Bits of the header's flags. */
const FLAGS = { checksum: 2, extra: 4, name: 8, comment: 16, reserved: 0xe0 };

/** Checks that may be left out. */
export interface InflateGzipOptions {
  signal?: AbortSignal | undefined;
  /** Takes what lies behind the first member for nothing, as some programs do. */
  takesMore?: boolean;
  takesChecksum?: boolean;
}

/**
 * Gives what gzip has packed, piece by piece. One member is all that there may be: of a second one, or of other bytes behind the first, some
 * programs read on and some do not.
 *
 * @throws ArchiveRefusal at the end of the pieces that can be read
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
    throw new ArchiveRefusal('tar.format', 'it is cut, or not packed by gzip', error);
  }
  const end = begin + inflater.bytesWritten;
  if (bytes.length < end + TRAILER) throw new ArchiveRefusal('tar.format', 'it is cut');
  const trailer = Buffer.from(bytes.buffer, bytes.byteOffset + end, TRAILER);
  const isWhole = trailer.readUInt32LE(0) === checksum && trailer.readUInt32LE(4) === size % 2 ** 32;
  if (!isWhole && options.takesChecksum !== true)
    throw new ArchiveRefusal('tar.checksum', 'another checksum than is declared');
  if (bytes.length > end + TRAILER && options.takesMore !== true)
    throw new ArchiveRefusal('tar.ambiguous', `something lies behind its end, ${bytes.length - end - TRAILER} bytes`);
}

/** Where the data begin, behind a header that may have a name, a comment and more. */
function dataOffset(bytes: Uint8Array): number {
  const [first, second, method, flags = 0] = bytes;
  if (first !== 0x1f || second !== 0x8b || method !== 8 || (flags & FLAGS.reserved) !== 0)
    throw new ArchiveRefusal('tar.format', 'it is not packed by gzip');
  let at = HEADER;
  if ((flags & FLAGS.extra) !== 0) at += 2 + (bytes[at] ?? 0) + (bytes[at + 1] ?? 0) * 256;
  for (const flag of [FLAGS.name, FLAGS.comment]) {
    if ((flags & flag) === 0) continue;
    const end = bytes.indexOf(0, at);
    if (end < 0) throw new ArchiveRefusal('tar.format', 'it is cut');
    at = end + 1;
  }
  if ((flags & FLAGS.checksum) !== 0) at += 2;
  if (at > bytes.length) throw new ArchiveRefusal('tar.format', 'it is cut');
  return at;
}
