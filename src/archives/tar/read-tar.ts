import { pipeline, Readable } from 'node:stream';
import type { SkillTree } from '../../contracts/skills/skill.ts';
import { ArchiveRefusal } from '../checks/archive-refused.ts';
import { ENTRY_CHECKS, type EntryCheck } from '../checks/entry-checks.ts';
import { inflateGzip } from './inflate-gzip.ts';
import { isLeftOut } from '../checks/left-out.ts';
import type { ListedEntry } from '../checks/listed-entry.ts';
import type { ReadArchive } from '../zip/read-zip.ts';
import { type TarCheck, walkTar } from './walk-tar.ts';

/** Options of {@link readTar}. */
export interface ReadTarOptions {
  signal?: AbortSignal | undefined;
  /** A check to skip. Tests use it to show that this check alone refuses an archive. */
  without?: EntryCheck | TarCheck | undefined;
}

/**
 * Reads a gzip-packed TAR archive into memory, after a walk that keeps no data has accepted it. Modes are reduced to the executable bit.
 *
 * @throws ArchiveRefusal
 */
export async function readTar(bytes: Uint8Array, options: ReadTarOptions = {}): Promise<ReadArchive> {
  const { signal, without } = options;
  const gzip = { signal, takesMore: without === 'ambiguous', takesChecksum: without === 'checksum' };
  const walk = walkTar(without);
  for await (const piece of inflateGzip(bytes, gzip)) walk.push(piece);
  walk.end();
  let entries: [ListedEntry, Buffer][];
  try {
    entries = await entriesOf(Readable.from(inflateGzip(bytes, gzip)));
  } catch (error) {
    signal?.throwIfAborted();
    throw new ArchiveRefusal('tar.format', (error as Error).message.replace(/\.$/, ''), error);
  }
  if (entries.length === 0) throw new ArchiveRefusal('tar.format', 'it has no entries');
  const listed = entries.map(([entry]) => entry);
  for (const [check, faultOf] of ENTRY_CHECKS) {
    const fault = check === without ? undefined : faultOf(listed);
    if (fault !== undefined) throw new ArchiveRefusal(`tar.${check}`, fault);
  }
  const tree: SkillTree = new Map();
  for (const [{ name, kind, executable }, content] of entries)
    if (kind === 'file' && !isLeftOut(name)) tree.set(name, { bytes: content, executable });
  return { tree, leftOut: listed.filter(({ name }) => isLeftOut(name)).map(({ name }) => name) };
}

async function entriesOf(packed: Readable): Promise<[ListedEntry, Buffer][]> {
  const { extract } = await import('tar-stream');
  const archive = extract();
  // The loop below receives its errors.
  pipeline(packed, archive, () => undefined);
  const entries: [ListedEntry, Buffer][] = [];
  for await (const entry of archive) {
    const { name, type, size, mode } = entry.header;
    const pieces: Buffer[] = [];
    for await (const piece of entry as AsyncIterable<Buffer>) pieces.push(piece);
    const kind = KINDS[type ?? ''] ?? 'other';
    const row = { name: plainPath(name), kind, bytes: size, executable: (mode & 0o111) !== 0 };
    // `tar` writes an entry `./` for its working folder.
    if (row.name !== '' || kind !== 'folder') entries.push([row, joined(pieces)]);
  }
  return entries;
}

const KINDS: Readonly<Record<string, ListedEntry['kind']>> = {
  file: 'file',
  'contiguous-file': 'file',
  directory: 'folder',
  link: 'link',
  symlink: 'link',
};

/** Removes the `./` and the last `/` that `tar` writes: `./data/a.csv`, `data/`. */
function plainPath(name: string): string {
  const own = name.startsWith('./') ? name.slice(2) : name === '.' ? '' : name;
  return own.endsWith('/') ? own.slice(0, -1) : own;
}

function joined(pieces: readonly Buffer[]): Buffer {
  const [only] = pieces;
  return only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces);
}
