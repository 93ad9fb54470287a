import type { Entry, FileEntry, ZipReaderConstructorOptions } from '@zip.js/zip.js';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import type { SkillTree } from '../../contracts/skills/skill.ts';
import { ARCHIVE_LIMITS } from '../checks/archive-limits.ts';
import { ArchiveRefusal } from '../checks/archive-refused.ts';
import { ENTRY_CHECKS, type EntryCheck } from '../checks/entry-checks.ts';
import { isLeftOut } from '../checks/left-out.ts';
import type { ListedEntry } from '../checks/listed-entry.ts';
import { type PackedEntry, probeZipEntry, readZipEntry } from './read-zip-entry.ts';
import { dataOffset, folderFault, gapFault, overlapFault } from './zip-layout.ts';

/** Checks of a ZIP archive. */
export type ZipCheck =
  | EntryCheck
  | 'ambiguous'
  | 'header'
  | 'unicode-path'
  | 'overlap'
  | 'gap'
  | 'checksum'
  | 'declared'
  | 'data';

/** Content of an archive. */
export interface ReadArchive {
  /** The files, by their paths. */
  tree: SkillTree;
  /** Paths of the files that were left out. */
  leftOut: string[];
}

/** Options of {@link readZip}. */
export interface ReadZipOptions {
  signal?: AbortSignal | undefined;
  /** A check to skip. Tests use it to show that this check alone refuses an archive. */
  without?: ZipCheck | undefined;
}

/**
 * Reads a ZIP archive into memory. Its directory is checked before any data is inflated, and an entry that differs from its declaration
 * refuses the archive. Modes are reduced to the executable bit.
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
    if (without !== 'file-folder') refuseOddFolders(entries);
    if (without !== 'unicode-path') refuseOtherNames(entries);
    refuseOddLayout(bytes, entries, reader.directoryOffset ?? 0, without);
    const files: [ListedEntry, PackedEntry][] = [];
    for (const [index, entry] of entries.entries()) {
      if (entry.directory) continue;
      // Compares the local header and the descriptor with the directory, without reading data.
      await entry.getData(new WritableStream(), {
        passThrough: true,
        checkOverlappingEntryOnly: without !== 'overlap',
      });
      files.push([listed[index] as ListedEntry, packedEntry(bytes, entry)]);
    }
    const total = listed.reduce((sum, entry) => sum + entry.bytes, 0);
    if (total > UNPROBED_BYTES) for (const [, entry] of files) await probeZipEntry(entry, options);
    for (const [{ name, executable }, entry] of files) {
      const content = await readZipEntry(entry, options);
      if (!isLeftOut(name)) tree.set(name, { bytes: content, executable });
    }
    return { tree, leftOut: listed.filter(({ name }) => isLeftOut(name)).map(({ name }) => name) };
  } catch (error) {
    signal?.throwIfAborted();
    throw await refusalOf(error);
  }
}

/** An archive that declares more bytes is checked once before any data is kept. */
const UNPROBED_BYTES = 8 * 1024 * 1024;

const OPTIONS: ZipReaderConstructorOptions = {
  strictness: 'strict',
  // `nameFault` checks the names, the same way for every kind of archive.
  filenameValidation: 'tolerant',
  useWebWorkers: false,
  decodeText: (bytes, _encoding, type) => (type === 'filename' ? UTF8.decode(bytes) : ''),
};

/** Names without the UTF-8 flag are read as UTF-8, too. Other encodings give U+FFFD, which no name may have. */
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
    // A slash at the end of the name marks a folder for programs that ignore modes.
    kind: entry.directory && kind === 'file' ? 'folder' : kind,
    bytes: entry.uncompressedSize,
    executable: (mode & 0o111) !== 0,
  };
}

/** Refuses entries that overlap, bytes outside of all entries, and folders whose local header differs from the directory. */
function refuseOddLayout(
  bytes: Uint8Array,
  entries: readonly Entry[],
  directory: number,
  without: ZipCheck | undefined,
): void {
  const checks = [
    ['overlap', 'zip.overlap', overlapFault],
    ['gap', 'zip.ambiguous', gapFault],
    ['header', 'zip.header', folderFault],
  ] as const;
  for (const [check, code, faultOf] of checks) {
    const fault = check === without ? undefined : faultOf(bytes, entries, directory);
    if (fault !== undefined) throw new ArchiveRefusal(code, fault);
  }
}

function packedEntry(bytes: Uint8Array, entry: FileEntry): PackedEntry {
  const { filename, compressionMethod: method, uncompressedSize: size, crc32: checksum = 0, compressedSize } = entry;
  const begin = dataOffset(bytes, entry);
  return { shown: quotedText(filename), method, size, checksum, packed: bytes.subarray(begin, begin + compressedSize) };
}

/** Refuses folders by attributes whose name has no slash at its end: some programs take them for files. */
function refuseOddFolders(entries: readonly Entry[]): void {
  const odd = entries.find(({ directory, filename }) => directory !== filename.endsWith('/'));
  if (odd !== undefined)
    throw new ArchiveRefusal('zip.file-folder', `a folder with the name of a file, got ${quotedText(odd.filename)}`);
}

/** Refuses a different second name in the Unicode path field: only some tools use it. */
function refuseOtherNames(entries: readonly Entry[]): void {
  for (const { rawFilename, extraFieldUnicodePath: other } of entries) {
    const name = UTF8.decode(rawFilename);
    if (other !== undefined && (other.valid !== true || other.filename !== name))
      throw new ArchiveRefusal('zip.header', `a second name that differs from the first one, got ${quotedText(name)}`);
  }
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
