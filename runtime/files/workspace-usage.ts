import { lstatSync, readdirSync, statfsSync, type Stats } from 'node:fs';
import { join } from 'node:path';

/** Limits of the workspace. */
export interface WorkspaceLimits {
  bytes: number;
  inodes: number;
}

/** The limit that a workspace with its own file system has reached, so that no more can be written to it. */
export function exhaustedFileSystem(folder: string): 'workspace' | 'inodes' | undefined {
  const usage = statfsSync(folder);
  if (usage.files > 0 && usage.ffree === 0) return 'inodes';
  // A few pages stay unused when a write of several pages no longer fits.
  if (usage.bfree * usage.bsize <= 4 * usage.bsize) return 'workspace';
  return undefined;
}

/**
 * Watches a workspace and a temporary folder that are ordinary folders: adds up their contents every 250 ms without following links, and calls
 * `onOver` once. The walk stops as soon as a limit is passed.
 *
 * @returns a function that stops the watch.
 */
export function watchWorkspace(
  folders: readonly string[],
  limits: WorkspaceLimits,
  onOver: (limit: 'workspace' | 'inodes') => void,
): () => void {
  const timer = setInterval(() => {
    const over = exceededLimit(folders, limits);
    if (over === undefined) return;
    clearInterval(timer);
    onOver(over);
  }, 250);
  return () => clearInterval(timer);
}

/** The limit that ordinary folders together have passed. */
export function exceededLimit(folders: readonly string[], limits: WorkspaceLimits): 'workspace' | 'inodes' | undefined {
  let bytes = 0;
  let inodes = 0;
  const linked = new Set<number>();
  const waiting = [...folders];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const name of namesIn(next)) {
      const path = join(next, name);
      const status = statusOf(path);
      if (status === undefined) continue;
      // A file with several names takes its room once.
      if (status.nlink > 1 && status.isFile() && linked.size === linked.add(status.ino).size) continue;
      inodes += 1;
      bytes += status.blocks * 512;
      if (inodes > limits.inodes) return 'inodes';
      if (bytes > limits.bytes) return 'workspace';
      if (status.isDirectory()) waiting.push(path);
    }
  }
  return undefined;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Removed or made unreadable by the running program; the next round looks again.
    return [];
  }
}

function statusOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    // The running program has just removed its own access to the folder.
    return undefined;
  }
}
