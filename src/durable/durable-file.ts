import { closeSync, fsyncSync, lstatSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { atPlace } from './file-system-fault.ts';
import { isDead, ownedName, parseOwnerName } from './owner.ts';
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

/** A temporary path in a folder, by default a new one of this process. The name begins with its owner. */
export function tornPath(folder: string, name: string = ownedName()): string {
  return join(folder, `.${name}.part`);
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
