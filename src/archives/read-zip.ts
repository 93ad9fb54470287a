import { crc32, inflateRaw } from 'node:zlib';
import type { Entry, FileEntry, ZipReaderConstructorOptions } from '@zip.js/zip.js';
import { quotedText } from '../contracts/quoted-text.ts';
import type { SkillTree } from '../contracts/skill.ts';
import { ARCHIVE_LIMITS } from './archive-limits.ts';
import { ArchiveRefusal } from './archive-refused.ts';
import { ENTRY_CHECKS, type EntryCheck } from './entry-checks.ts';
import { isLeftOut } from './left-out.ts';
import type { ListedEntry } from './listed-entry.ts';
import { overlapFault } from './zip-overlap.ts';

/** Of what a ZIP archive may be refused. */
export type ZipCheck = EntryCheck | 'ambiguous' | 'header' | 'unicode-path' | 'overlap' | 'checksum';

/** What an archive holds. */
export interface ReadArchive {
  /** The files, by their paths. */
  tree: SkillTree;
  /** Paths of what systems and tools leave in archives. */
  leftOut: string[];
}

/** For whoever shows what one check is for. */
export interface ReadZipOptions {
  signal?: AbortSignal | undefined;
  /** A check that is not made. Tests show by it that an archive is refused for that alone. */
  without?: ZipCheck | undefined;
}

/**
 * Reads a ZIP archive whole, into memory: its list is judged before anything is inflated, and an entry that has not the bytes it declares is
 * none. Modes are reduced to the executable bit.
 *
 * @throws ArchiveRefusal
 */
export async function readZip(bytes: Uint8Array, options: ReadZipOptions = {}): Promise<ReadArchive> {
  const { signal, without } = options;
  const { ZipReader, Uint8ArrayReader } = await import('@zip.js/zip.js');
  const reader = new ZipReader(new Uint8ArrayReader(bytes), { ...OPTIONS, ...loosened(without) });
  const tree: SkillTree = new Map();
  try {
    const entries: Entry[] = [];
    for await (const entry of reader.getEntriesGenerator()) {
      entries.push(entry);
      if (entries.length > ARCHIVE_LIMITS.entries && without !== 'entries') break;
    }
    if (entries.length === 0) throw new ArchiveRefusal('zip.format', 'it has no entries');
    const locked = entries.find(({ encrypted }) => encrypted);
    if (locked !== undefined)
      throw new ArchiveRefusal('zip.encrypted', `an entry is encrypted, got ${quotedText(locked.filename)}`);
    const listed = entries.map(listedEntry);
    for (const [check, faultOf] of ENTRY_CHECKS) {
      const fault = check === without ? undefined : faultOf(listed);
      if (fault !== undefined) throw new ArchiveRefusal(`zip.${check}`, fault);
    }
    if (without !== 'unicode-path') refuseOtherNames(entries);
    const overlap = without === 'overlap' ? undefined : overlapFault(entries);
    if (overlap !== undefined) throw new ArchiveRefusal('zip.overlap', overlap);
    const leftOut = listed.filter(({ name }) => isLeftOut(name)).map(({ name }) => name);
    for (const [index, entry] of entries.entries()) {
      const { name, executable } = listed[index] as ListedEntry;
      if (entry.directory || isLeftOut(name)) continue;
      tree.set(name, { bytes: await contentOf(entry, options), executable });
    }
    return { tree, leftOut };
  } catch (error) {
    signal?.throwIfAborted();
    throw await refusalOf(error);
  }
}

const OPTIONS: ZipReaderConstructorOptions = {
  strictness: 'strict',
  // Names are judged by us, for every kind of archive alike.
  filenameValidation: 'tolerant',
  useWebWorkers: false,
  decodeText: (bytes, _encoding, type) => (type === 'filename' ? UTF8.decode(bytes) : ''),
};

/** Names without the flag for UTF-8 are UTF-8 as well; what is none has a character that no name may have. */
const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true });

function loosened(without: ZipCheck | undefined): ZipReaderConstructorOptions {
  if (without === 'ambiguous' || without === 'duplicate')
    return { strictness: 'tolerant', checkLocalDirectory: true, checkLocalFilename: true };
  return without === 'header' ? { checkLocalDirectory: false } : {};
}

const FILE_KINDS: ReadonlyMap<number, ListedEntry['kind']> = new Map([
  [0, 'file'],
  [0o100_000, 'file'],
  [0o040_000, 'folder'],
  [0o120_000, 'link'],
]);

function listedEntry(entry: Entry): ListedEntry {
  const mode = entry.externalFileAttributes >>> 16;
  const kind = FILE_KINDS.get(mode & 0o170_000) ?? 'other';
  return {
    name: entry.directory ? entry.filename.replace(/\/$/, '') : entry.filename,
    // The name says it as well, to whoever does not look at modes.
    kind: entry.directory && kind === 'file' ? 'folder' : kind,
    bytes: entry.uncompressedSize,
    executable: (mode & 0o111) !== 0,
  };
}

/** A second name, in a field beside the first one, that some tools take and others do not. */
function refuseOtherNames(entries: readonly Entry[]): void {
  for (const { rawFilename, extraFieldUnicodePath: other } of entries) {
    const name = UTF8.decode(rawFilename);
    if (other !== undefined && (other.valid !== true || other.filename !== name))
      throw new ArchiveRefusal('zip.header', `a second name that differs from the first one, got ${quotedText(name)}`);
  }
}

/** The content of a file, which is what it declares to be, or nothing. */
async function contentOf(entry: FileEntry, { signal, without }: ReadZipOptions): Promise<Buffer> {
  const { filename, uncompressedSize: size, compressionMethod: method, crc32: declared } = entry;
  const shown = quotedText(filename);
  const packed = Buffer.from(
    await entry.arrayBuffer({ passThrough: true, ...(signal === undefined ? {} : { signal }) }),
  );
  if (method !== STORED && method !== DEFLATED)
    throw new ArchiveRefusal('zip.method', `a method of compression that is not read, got ${method} of ${shown}`);
  const content = method === STORED ? packed : await inflate(packed, size, shown);
  if (content.length !== size)
    throw new ArchiveRefusal(
      'zip.size',
      `other bytes than are declared, got ${content.length} for ${size} of ${shown}`,
    );
  if (without !== 'checksum' && crc32(content) !== declared)
    throw new ArchiveRefusal('zip.checksum', `another checksum than is declared, got ${shown}`);
  return content;
}

const STORED = 0;
const DEFLATED = 8;

/** Never gives more than is declared: whatever would follow is not made. */
async function inflate(packed: Buffer, size: number, shown: string): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<{ buffer: Buffer; engine: { bytesWritten: number } }>();
  const options = { maxOutputLength: Math.max(size, 1), info: true };
  inflateRaw(packed, options, (error, given) => (error === null ? resolve(given as never) : reject(error)));
  const { buffer, engine } = await promise.catch((cause: NodeJS.ErrnoException) => {
    const isLarge = cause.code === 'ERR_BUFFER_TOO_LARGE';
    throw isLarge
      ? new ArchiveRefusal('zip.size', `more bytes than are declared, ${size}, got ${shown}`, cause)
      : new ArchiveRefusal('zip.data', `data that cannot be inflated, got ${shown}`, cause);
  });
  if (engine.bytesWritten !== packed.length)
    throw new ArchiveRefusal('zip.data', `bytes behind the end of the data, got ${shown}`);
  return buffer;
}

async function refusalOf(error: unknown): Promise<ArchiveRefusal> {
  if (error instanceof ArchiveRefusal) return error;
  const zip = await import('@zip.js/zip.js');
  const { message, reason } = error as Error & { reason?: string };
  const fault = (
    [
      ['zip.encrypted', [zip.ERR_ENCRYPTED, zip.ERR_UNSUPPORTED_ENCRYPTION, zip.ERR_ENCRYPTED_CENTRAL_DIRECTORY]],
      ['zip.method', [zip.ERR_UNSUPPORTED_COMPRESSION]],
      ['zip.disks', [zip.ERR_SPLIT_ZIP_FILE]],
      [
        'zip.zip64',
        [zip.ERR_EXTRAFIELD_ZIP64_NOT_FOUND, zip.ERR_EOCDR_LOCATOR_ZIP64_NOT_FOUND, zip.ERR_UNSUPPORTED_UINT64],
      ],
      ['zip.overlap', [zip.ERR_OVERLAPPING_ENTRY]],
      ['zip.header', [zip.ERR_LOCAL_FILE_HEADER_NOT_FOUND]],
    ] as const
  ).find(([, messages]) => (messages as readonly string[]).includes(message))?.[0];
  if (message === zip.ERR_AMBIGUOUS_ARCHIVE)
    return new ArchiveRefusal(
      reason?.startsWith('mismatched local') ? 'zip.header' : 'zip.ambiguous',
      `it can be read in two ways: ${reason}`,
      error,
    );
  return new ArchiveRefusal(fault ?? 'zip.format', message, error);
}
