import { crc32, createInflateRaw, inflateRaw } from 'node:zlib';
import { ArchiveRefusal } from '../checks/archive-refused.ts';

const STORED = 0;
const DEFLATED = 8;
const CHUNK = 64 * 1024;

/** A file as its archive declares it, with its data as they lie there. */
export interface PackedEntry {
  /** As messages show it. */
  shown: string;
  method: number;
  size: number;
  checksum: number;
  packed: Uint8Array;
}

/** Checks of a file's data that are not made; tests show by them what each is for. */
export interface ReadEntryOptions {
  signal?: AbortSignal | undefined;
  without?: string | undefined;
}

/**
 * The content of a file, which is what it declares to be, or nothing: no more than the declared bytes are ever made.
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
 * Goes through the data of a file and keeps nothing.
 *
 * @throws ArchiveRefusal where it is not what it declares to be
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

/** What every engine of this version has, and the types of an older one have not. */
interface Transferable extends ArrayBuffer {
  transfer(bytes: number): ArrayBuffer;
}

/** Frees the memory of a piece that fills what was allocated for it; a collector would wait until there are many of them. */
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
  throw new ArchiveRefusal('zip.method', `a method of compression that is not read, got ${method} of ${shown}`);
}

function refuseRest({ packed, shown }: PackedEntry, read: number): void {
  if (read !== packed.length) throw new ArchiveRefusal('zip.data', `bytes behind the end of the data, got ${shown}`);
}

function refuseOther(entry: PackedEntry, size: number, checksum: number, { without }: ReadEntryOptions = {}): void {
  const { shown } = entry;
  if (size !== entry.size && without !== 'declared')
    throw new ArchiveRefusal('zip.size', `other bytes than are declared, got ${size} for ${entry.size} of ${shown}`);
  if (checksum !== entry.checksum)
    throw new ArchiveRefusal('zip.checksum', `another checksum than is declared, got ${shown}`);
}

function excess({ size, shown }: PackedEntry, cause?: unknown): ArchiveRefusal {
  return new ArchiveRefusal('zip.size', `more bytes than are declared, ${size}, got ${shown}`, cause);
}

function unreadable(shown: string, cause: unknown): ArchiveRefusal {
  return new ArchiveRefusal('zip.data', `data that cannot be inflated, got ${shown}`, cause);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
