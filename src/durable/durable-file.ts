import { closeSync, fsyncSync, lstatSync, openSync, readdirSync, renameSync, rmSync, writeSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { atPlace } from './file-system-fault.ts';
import { currentOwner, isDead, ownerName, parseOwnerName } from './owner.ts';
import { removeTree } from './remove-tree.ts';

/** What is on its way to the disk: its name begins with the owner, who alone may finish it. */
const TORN = /^\.(.+)\.part$/;

/**
 * Writes a file under a temporary name of this process, and returns its path once it is on the disk. Where that fails nothing is left.
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

/** A path in that folder, for what this process has on its way to the disk. */
export function tornPath(folder: string): string {
  return join(folder, `.${ownerName(currentOwner())}-${randomBytes(8).toString('hex')}.part`);
}

/** Takes something out of the way at once, for whoever looks at its place; then from the disk. */
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

/** Removes what dead owners were writing when they died: files, and folders with what is in them. What another user left is theirs. */
export function removeTorn(folder: string): void {
  for (const name of readdirSync(folder)) {
    const owner = parseOwnerName(TORN.exec(name)?.[1] ?? '');
    if (owner === undefined || !isDead(owner)) continue;
    const path = join(folder, name);
    if (lstatSync(path, { throwIfNoEntry: false })?.uid === process.geteuid?.()) removeTree(path);
  }
}

/** Writes all of it: one call may write only a part. */
export function writeWhole(descriptor: number, content: string | Uint8Array): void {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  for (let offset = 0; offset < bytes.length;) offset += writeSync(descriptor, bytes, offset);
}

/** Puts the names in a folder on the disk; that a file itself is there says nothing of its name. */
export function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
