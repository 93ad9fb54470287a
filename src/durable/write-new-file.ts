import { chmodSync, linkSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncFolder, writeAside } from './durable-file.ts';

/**
 * Writes a new file atomically. It is on the disk when this returns.
 *
 * @param path absolute path in an existing folder
 * @returns false if the path exists already; it is not changed
 * @throws the system's error
 */
export function writeNewFile(path: string, content: string | Uint8Array): boolean {
  const folder = dirname(path);
  const aside = writeAside(folder, content);
  try {
    chmodSync(aside, 0o666 & ~process.umask());
    // A rename would replace an existing file.
    linkSync(aside, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(aside, { force: true });
    syncFolder(folder);
  }
}
