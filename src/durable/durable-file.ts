import { closeSync, fsyncSync, lstatSync, openSync, readdirSync, renameSync, rmSync, writeSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { atPlace } from './file-system-fault.ts';
import { currentOwner, isDead, ownerName, parseOwnerName } from './owner.ts';
import { removeTree } from './remove-tree.ts';

/** Name of a temporary file or folder. It begins with its owner, the only process that may finish it. */
const TORN = /^\.(.+)\.part$/;

/**
 * Writes a file under a temporary name of this process, and returns its path once it is on the disk. A failure leaves no file.
 *
 * @throws the system's error
 */
export function writeAside(folder: string, content: string | Uint8Array): string {
  const path = tornPath(folder);
  try {
    const file = openSync(path, 'wx', 0o600);
    try {
      writeWhole(file, content);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    return path;
  } catch (error) {
    rmSync(path, { force: true });
    throw atPlace(error, folder);
  }
}

/** A new temporary path of this process in a folder. */
export function tornPath(folder: string): string {
  return join(folder, `.${ownerName(currentOwner())}-${randomBytes(8).toString('hex')}.part`);
}

/** Renames an entry first, so that readers of its path see it vanish at once; then deletes it. */
export function discard(place: string): void {
  const aside = tornPath(dirname(place));
  try {
    renameSync(place, aside);
  } catch {
    // Another process was faster.
    return;
  }
  removeTree(aside);
}

/** Removes the temporary files and folders of dead owners. Entries of other users are kept. */
export function removeTorn(folder: string): void {
  for (const name of readdirSync(folder)) {
    const owner = parseOwnerName(TORN.exec(name)?.[1] ?? '');
    if (owner === undefined || !isDead(owner)) continue;
    const path = join(folder, name);
    if (lstatSync(path, { throwIfNoEntry: false })?.uid === process.geteuid?.()) removeTree(path);
  }
}

/** Writes the whole content: one call may write only a part. */
export function writeWhole(descriptor: number, content: string | Uint8Array): void {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  for (let offset = 0; offset < bytes.length;) offset += writeSync(descriptor, bytes, offset);
}

/** Writes the names in a folder to the disk: fsync of a file does not include its name. */
export function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
