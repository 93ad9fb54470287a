import { chmodSync, linkSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncFolder, writeAside } from './durable-file.ts';

/**
 * Writes a new file that is there whole or not at all, and is on the disk when this returns.
 *
 * @param path absolute path in an existing folder
 * @returns false where something of that name is there already, which stays as it is
 * @throws the system's error
 */
export function writeNewFile(path: string, content: string | Uint8Array): boolean {
  const folder = dirname(path);
  const aside = writeAside(folder, content);
  try {
    chmodSync(aside, 0o666 & ~process.umask());
    // A rename would take the place of what is there.
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
