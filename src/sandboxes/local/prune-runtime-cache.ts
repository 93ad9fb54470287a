import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** A host that uses an old version after this time must create its copy again. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/**
 * Removes copies of the runtime that no host has started to use for 30 days. Each version of the package, of Node and of a checkout
 * leaves a copy.
 *
 * @param now milliseconds since the epoch
 */
export async function pruneRuntimeCache(cacheRoot: string, now: number = Date.now()): Promise<void> {
  for (const name of await readdir(cacheRoot)) {
    const path = join(cacheRoot, name);
    try {
      const status = await stat(path);
      // The shared copy of Node is hard-linked into the copies that use it.
      const inUse = status.isFile() && status.nlink > 1;
      if (!inUse && now - status.mtimeMs > KEPT_MS) await rm(path, { recursive: true, force: true });
    } catch {
      // Another host removes it at the same time, or it belongs to another user.
    }
  }
}
