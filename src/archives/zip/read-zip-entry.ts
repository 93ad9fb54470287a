import { crc32, createInflateRaw, inflateRaw } from 'node:zlib';
import { ArchiveRefusal } from '../checks/archive-refused.ts';

const STORED = 0;
const DEFLATED = 8;
const CHUNK = 64 * 1024;

/** The declared properties of a file in an archive, with its packed data. */
export interface PackedEntry {
  /** Name in messages. */
  shown: string;
  method: number;
  size: number;
  checksum: number;
  packed: Uint8Array;
}

/** Options of reading an entry. `without` names a check to skip, for tests. */
export interface ReadEntryOptions {
  signal?: AbortSignal | undefined;
  without?: string | undefined;
}

/**
 * Reads the content of a file and compares it with the declaration. Never inflates more than the declared bytes.
 *
 * @throws ArchiveRefusal
 */
export async function readZipEntry(entry: PackedEntry, options: ReadEntryOptions): Promise<Buffer> {
  const { method, packed } = entry;
  const content = isStored(method, entry) ? asBuffer(packed) : await inflate(entry, options);
  refuseOther(entry, content.length, options.without === 'checksum' ? entry.checksum : crc32(content), options);
  return content;
}

/**
 * Checks the data of a file without keeping it.
 *
 * @throws ArchiveRefusal if the data differs from the declaration
 */
export async function probeZipEntry(entry: PackedEntry, { signal }: ReadEntryOptions): Promise<void> {
  const { method, packed, size: limit, shown } = entry;
  if (isStored(method, entry)) {
    refuseOther(entry, packed.length, crc32(packed));
    return;
  }
  const inflater = createInflateRaw({ chunkSize: CHUNK });
  inflater.end(packed);
  let size = 0;
  let checksum = 0;
  try {
    for await (const piece of inflater as AsyncIterable<Buffer>) {
      signal?.throwIfAborted();
      size += piece.length;
      if (size > limit) throw excess(entry);
      checksum = crc32(piece, checksum);
      giveBack(piece);
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof ArchiveRefusal ? error : unreadable(shown, error);
  }
  refuseRest(entry, inflater.bytesWritten);
  refuseOther(entry, size, checksum);
}

/** `transfer` exists in every supported engine but is missing in the type declarations. */
interface Transferable extends ArrayBuffer {
  transfer(bytes: number): ArrayBuffer;
}

/** Frees the memory of a chunk that fills its buffer at once; the garbage collector would wait for many of them. */
function giveBack({ buffer, byteOffset, byteLength }: Buffer): void {
  if (byteOffset + byteLength === buffer.byteLength) (buffer as Transferable).transfer(0);
}

async function inflate(entry: PackedEntry, { without }: ReadEntryOptions): Promise<Buffer> {
  const { packed, size, shown } = entry;
  const { promise, resolve, reject } = Promise.withResolvers<{ buffer: Buffer; engine: { bytesWritten: number } }>();
  const options = { info: true, ...(without === 'declared' ? {} : { maxOutputLength: Math.max(size, 1) }) };
  inflateRaw(packed, options, (error, given) => (error === null ? resolve(given as never) : reject(error)));
  const { buffer, engine } = await promise.catch((cause: NodeJS.ErrnoException) => {
    throw cause.code === 'ERR_BUFFER_TOO_LARGE' ? excess(entry, cause) : unreadable(shown, cause);
  });
  if (without !== 'data') refuseRest(entry, engine.bytesWritten);
  return buffer;
}

function isStored(method: number, { shown }: PackedEntry): boolean {
  if (method === STORED || method === DEFLATED) return method === STORED;
  throw new ArchiveRefusal('zip.method', `an unsupported compression method, got ${method} of ${shown}`);
}

function refuseRest({ packed, shown }: PackedEntry, read: number): void {
  if (read !== packed.length) throw new ArchiveRefusal('zip.data', `bytes after the end of the data, got ${shown}`);
}

function refuseOther(entry: PackedEntry, size: number, checksum: number, { without }: ReadEntryOptions = {}): void {
  const { shown } = entry;
  if (size !== entry.size && without !== 'declared')
    throw new ArchiveRefusal(
      'zip.size',
      `a size that differs from the declared ${entry.size} bytes, got ${size} of ${shown}`,
    );
  if (checksum !== entry.checksum)
    throw new ArchiveRefusal('zip.checksum', `a checksum that differs from the declared one, got ${shown}`);
}

function excess({ size, shown }: PackedEntry, cause?: unknown): ArchiveRefusal {
  return new ArchiveRefusal('zip.size', `more than the declared ${size} bytes, got ${shown}`, cause);
}

function unreadable(shown: string, cause: unknown): ArchiveRefusal {
  return new ArchiveRefusal('zip.data', `data that cannot be inflated, got ${shown}`, cause);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
