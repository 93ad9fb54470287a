import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** A host that runs for longer with an old version makes its copy again. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/**
 * Removes copies of the runtime that no host has begun to use for a month: each version of the package, of Node and of a checkout
 * leaves one.
 *
 * @param now milliseconds since the epoch
 */
export async function pruneRuntimeCache(cacheRoot: string, now: number = Date.now()): Promise<void> {
  for (const name of await readdir(cacheRoot)) {
    const path = join(cacheRoot, name);
    try {
      const status = await stat(path);
      // The one copy of Node is linked into those that use it.
      const inUse = status.isFile() && status.nlink > 1;
      if (!inUse && now - status.mtimeMs > KEPT_MS) await rm(path, { recursive: true, force: true });
    } catch {
      // Another host removes it too, or it is another user's.
    }
  }
}
