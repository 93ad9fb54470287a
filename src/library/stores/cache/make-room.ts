import { lstatSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { discard } from '../../../durable/durable-file.ts';
import { claimTree } from './claims.ts';
import { heldTrees, namesIn } from './leases.ts';

/** The folders of a cache. */
export interface CacheFolders {
  trees: string;
  leases: string;
  claims: string;
  /** Notes of processes that have not made room yet. */
  owed: string;
  /** Folders of single files. They have no leases, as each read takes the whole file. */
  files: readonly string[];
  /** Databases that processes share. Their bytes count, and they shrink by themselves. */
  databases: readonly string[];
}

/** An entry that can be evicted. */
export interface CacheEntry {
  path: string;
  bytes: number;
  usedAt: number;
  /** The name by which it is leased; absent for a file, which has no leases. */
  tree?: string;
}

/** A tree is named by the digest of a skill. */
const TREE = /^[0-9a-f]{64}$/;
/** Evictions stop at this share of the limit, so that not every new skill evicts again. */
const LEFT = 0.9;

/**
 * Evicts the entries that were unused for longest, until the cache has room again. Entries that a living process needs stay, even if the cache is
 * then over its limit.
 *
 * @returns bytes that are left
 */
export function makeRoom(folders: CacheFolders, maxBytes: number): number {
  const entries = [...treesIn(folders.trees), ...folders.files.flatMap(filesIn)];
  const shared = folders.databases.reduce((sum, path) => sum + sizeOf(path) + sizeOf(`${path}-wal`), 0);
  return evictOldest(entries, folders, maxBytes, shared);
}

/**
 * Evicts from a given list of entries, by the same rules.
 *
 * @param shared bytes that count, but that no eviction frees
 */
export function evictOldest(
  entries: readonly CacheEntry[],
  folders: Pick<CacheFolders, 'leases' | 'claims'>,
  maxBytes: number,
  shared = 0,
): number {
  let total = entries.reduce((sum, { bytes }) => sum + bytes, shared);
  if (total <= maxBytes) return total;
  const held = heldTrees(folders.leases);
  for (const { path, bytes, tree } of entries.toSorted((a, b) => a.usedAt - b.usedAt)) {
    if (total <= maxBytes * LEFT) break;
    if (tree === undefined) rmSync(path, { force: true });
    else if (held.has(tree) || !evict(folders, path, tree)) continue;
    total -= bytes;
  }
  return total;
}

function evict({ leases, claims }: Pick<CacheFolders, 'leases' | 'claims'>, path: string, tree: string): boolean {
  const unclaim = claimTree(claims, tree);
  try {
    if (heldTrees(leases).has(tree)) return false;
    discard(path);
    return true;
  } finally {
    unclaim();
  }
}

function treesIn(folder: string): CacheEntry[] {
  return namesIn(folder)
    .filter((name) => TREE.test(name))
    .map((name) => {
      const path = join(folder, name);
      const usedAt = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
      return { path, bytes: sizeOf(path), usedAt, tree: name };
    });
}

function filesIn(folder: string): CacheEntry[] {
  return namesIn(folder)
    .filter((name) => TREE.test(name))
    .flatMap((name) => {
      const path = join(folder, name);
      const stats = lstatSync(path, { throwIfNoEntry: false });
      return stats === undefined ? [] : [{ path, bytes: stats.size, usedAt: stats.mtimeMs }];
    });
}

function sizeOf(path: string): number {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return 0;
  if (!stats.isDirectory()) return stats.size;
  return namesIn(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}
