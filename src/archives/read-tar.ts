import { gunzip } from 'node:zlib';
import type { SkillTree } from '../contracts/skill.ts';
import { ARCHIVE_LIMITS } from './archive-limits.ts';
import { ArchiveRefusal } from './archive-refused.ts';
import { ENTRY_CHECKS, type EntryCheck } from './entry-checks.ts';
import { isLeftOut } from './left-out.ts';
import type { ListedEntry } from './listed-entry.ts';
import type { ReadArchive } from './read-zip.ts';

/** Bytes of headers and padding an entry, with the longest names there may be. */
const ENTRY_ROOM = 4_096;

/** For whoever shows what one check is for. */
export interface ReadTarOptions {
  signal?: AbortSignal | undefined;
  /** A check that is not made. Tests show by it that an archive is refused for that alone. */
  without?: EntryCheck | undefined;
}

/**
 * Reads a TAR archive that gzip has packed, whole, into memory. Modes are reduced to the executable bit.
 *
 * @throws ArchiveRefusal
 */
export async function readTar(bytes: Uint8Array, { signal, without }: ReadTarOptions = {}): Promise<ReadArchive> {
  const { extract } = await import('tar-stream');
  const archive = extract();
  const listed: ListedEntry[] = [];
  const contents = new Map<ListedEntry, Buffer>();
  archive.end(await unpacked(bytes));
  try {
    // In this form a cut archive rejects the loop; a listener that waits would leave its error to nobody.
    for await (const entry of archive) {
      signal?.throwIfAborted();
      const { name, type, size, mode } = entry.header;
      const row: ListedEntry = {
        name: plainPath(name),
        kind: KINDS[type ?? ''] ?? 'other',
        bytes: size,
        executable: (mode & 0o111) !== 0,
      };
      const pieces: Buffer[] = [];
      for await (const piece of entry) pieces.push(piece as Buffer);
      // What `tar` writes for the folder that it was called in.
      if (row.name === '' && row.kind === 'folder') continue;
      listed.push(row);
      if (listed.length > ARCHIVE_LIMITS.entries && without !== 'entries') break;
      if (row.kind === 'file') contents.set(row, Buffer.concat(pieces));
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw new ArchiveRefusal('tar.format', (error as Error).message.replace(/\.$/, ''), error);
  }
  if (listed.length === 0) throw new ArchiveRefusal('tar.format', 'it has no entries');
  for (const [check, faultOf] of ENTRY_CHECKS) {
    const fault = check === without ? undefined : faultOf(listed);
    if (fault !== undefined) throw new ArchiveRefusal(`tar.${check}`, fault);
  }
  const tree: SkillTree = new Map();
  for (const [{ name, executable }, content] of contents)
    if (!isLeftOut(name)) tree.set(name, { bytes: content, executable });
  return { tree, leftOut: listed.filter(({ name }) => isLeftOut(name)).map(({ name }) => name) };
}

const KINDS: Readonly<Record<string, ListedEntry['kind']>> = {
  file: 'file',
  'contiguous-file': 'file',
  directory: 'folder',
  link: 'link',
  symlink: 'link',
};

/** As `tar` writes names: `./data/a.csv`, `data/`. */
function plainPath(name: string): string {
  const own = name.startsWith('./') ? name.slice(2) : name === '.' ? '' : name;
  return own.endsWith('/') ? own.slice(0, -1) : own;
}

async function unpacked(bytes: Uint8Array): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<{ buffer: Buffer; engine: { bytesWritten: number } }>();
  const maxOutputLength = ARCHIVE_LIMITS.unpackedBytes + ARCHIVE_LIMITS.entries * ENTRY_ROOM;
  gunzip(bytes, { maxOutputLength, info: true }, (error, given) =>
    error === null ? resolve(given as never) : reject(error),
  );
  const { buffer } = await promise.catch((cause: NodeJS.ErrnoException) => {
    throw cause.code === 'ERR_BUFFER_TOO_LARGE'
      ? new ArchiveRefusal('tar.size', `over ${ARCHIVE_LIMITS.unpackedBytes} bytes unpacked`, cause)
      : new ArchiveRefusal('tar.format', `it is not packed by gzip, or cut: ${cause.message}`, cause);
  });
  return buffer;
}
