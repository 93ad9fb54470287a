import { lstatSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { removeTree } from '../../../durable/remove-tree.ts';
import { namesIn } from './leases.ts';

/** An entry that can be evicted. */
export interface CacheEntry {
  bytes: number;
  /** Time of last use, in ms since 1970. */
  usedAt: number;
  /** Removes the entry where no process needs it. @returns whether it is gone */
  evict(): boolean;
}

/** Limits of some entries together. */
export interface EntryLimits {
  maxBytes: number;
  maxEntries?: number;
  /** Bytes that count towards the limit, but that no eviction frees. */
  shared?: number;
}

/** Evictions stop at this share of the limit, so that not every new entry evicts again. */
const LEFT = 0.9;

/**
 * Evicts the entries that were unused for longest, once they are over a limit. Entries that a living process needs stay, even if the rest is then
 * over the limit.
 *
 * @returns bytes that are left
 */
export function evictOldest(
  entries: readonly CacheEntry[],
  { maxBytes, maxEntries = Number.POSITIVE_INFINITY, shared = 0 }: EntryLimits,
): number {
  let total = entries.reduce((sum, { bytes }) => sum + bytes, shared);
  let count = entries.length;
  if (total <= maxBytes && count <= maxEntries) return total;
  for (const { bytes, evict } of entries.toSorted((a, b) => a.usedAt - b.usedAt)) {
    if (total <= maxBytes * LEFT && count <= maxEntries) break;
    if (!evict()) continue;
    total -= bytes;
    count -= 1;
  }
  return total;
}

/**
 * Lists the entries of a folder.
 *
 * @param names of entries; other names are ignored
 * @param evict removes the entry at a path
 */
export function entriesIn(folder: string, names: RegExp, evict: (path: string) => boolean): CacheEntry[] {
  return namesIn(folder)
    .filter((name) => names.test(name))
    .flatMap((name) => {
      const path = join(folder, name);
      const stats = lstatSync(path, { throwIfNoEntry: false });
      return stats === undefined ? [] : [{ bytes: sizeOf(path), usedAt: stats.mtimeMs, evict: () => evict(path) }];
    });
}

/** Bytes of the files at or below a path. */
export function sizeOf(path: string): number {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return 0;
  if (!stats.isDirectory()) return stats.size;
  return namesIn(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}

/** Removes an entry that no process leases: each read takes the whole file, or keeps it open. */
export function removeEntry(path: string): boolean {
  try {
    removeTree(path);
    return true;
  } catch {
    // On a read-only disk it stays.
    return false;
  }
}

/**
 * Notes the use of an entry, as evictions go by the time of last use.
 *
 * @param precisionMs a time that differs less is left as it is, which saves a write for each read
 */
export function touch(path: string, precisionMs = 0): void {
  try {
    const now = Date.now();
    if (Math.abs(now - lstatSync(path).mtimeMs) >= precisionMs) utimesSync(path, now / 1000, now / 1000);
  } catch {
    // Evicted meanwhile, on a read-only disk, or another user's.
  }
}
