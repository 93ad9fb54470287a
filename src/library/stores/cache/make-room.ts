import { lstatSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { discard } from '../../../durable/durable-file.ts';
import { claimTree } from './claims.ts';
import { heldTrees, namesIn } from './leases.ts';

/** Where the parts of a cache are. */
export interface CacheFolders {
  trees: string;
  leases: string;
  claims: string;
  /** Says who has not made room yet. */
  owed: string;
  /** Folders of single files, which nobody holds: they are read whole. */
  files: readonly string[];
  /** Databases that processes share: they count, and shrink by themselves. */
  databases: readonly string[];
}

/** Something that can be evicted. */
export interface CacheEntry {
  path: string;
  bytes: number;
  usedAt: number;
  /** The name by which it is held; absent for a file, which nobody holds. */
  tree?: string;
}

/** A tree is named by the digest of a skill. */
const TREE = /^[0-9a-f]{64}$/;
/** As a share of the bound, so that not every skill makes room anew. */
const LEFT = 0.9;

/**
 * Evicts what was not used for longest, until a cache has room again. What a living process needs stays, also where the cache then is over its bound.
 *
 * @returns bytes that are left
 */
export function makeRoom(folders: CacheFolders, maxBytes: number): number {
  const entries = [...treesIn(folders.trees), ...folders.files.flatMap(filesIn)];
  const shared = folders.databases.reduce((sum, path) => sum + sizeOf(path) + sizeOf(`${path}-wal`), 0);
  return evictOldest(entries, folders, maxBytes, shared);
}

/**
 * The same of entries that are known.
 *
 * @param shared bytes that count, and that no eviction gives back
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
