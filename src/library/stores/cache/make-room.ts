import { type EntryLimits, entriesIn, evictOldest, removeEntry, sizeOf } from './cache-entries.ts';
import type { SharedEntries } from './shared-entries.ts';

/** The folders of a cache. */
export interface CacheFolders {
  trees: string;
  /** Notes of processes that have not made room yet. */
  owed: string;
  /** Folders of single files. */
  files: readonly string[];
  /** Databases that processes share. Their bytes count, and they shrink by themselves. */
  databases: readonly string[];
}

/** A tree is named by the digest of a skill, a file by the digest of its key. */
const NAME = /^[0-9a-f]{64}$/;

/**
 * Makes room in a cache, where it is over its limit.
 *
 * @returns bytes that are left
 */
export function makeRoom(
  { trees, files, databases }: CacheFolders,
  shared: Pick<SharedEntries, 'evict'>,
  { maxBytes }: Pick<EntryLimits, 'maxBytes'>,
): number {
  const entries = [
    ...entriesIn(trees, NAME, shared.evict),
    ...files.flatMap((folder) => entriesIn(folder, NAME, removeEntry)),
  ];
  const beside = databases.reduce((sum, path) => sum + sizeOf(path) + sizeOf(`${path}-wal`), 0);
  return evictOldest(entries, { maxBytes, shared: beside });
}
