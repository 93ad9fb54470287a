import { Buffer } from 'node:buffer';
import { lstatSync, readdirSync, renameSync } from 'node:fs';
import { reopenFolder } from './reopen-folder.ts';

/** Folders with longer paths are moved to the top, because systems limit the length of a path. */
const LONG_PATH = 500;

/**
 * Prepares a tree of user code for removal: restores the permissions of each folder, and moves folders that are too deep for a path to the
 * top. Yields after each folder, for callers with other work. Call it as the owner, after all processes of user code have ended.
 *
 * @throws the system's error
 */
export function* flattenTree(top: string | Buffer): Generator<void> {
  const folders: Buffer[] = [Buffer.from(top)];
  let moved = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const name of foldersIn(folder)) {
      let path = below(folder, name);
      if (path.length > LONG_PATH) {
        reopenFolder(path);
        const deep = path;
        do path = below(top, `${(moved += 1)}`);
        while (lstatSync(path, { throwIfNoEntry: false }) !== undefined);
        renameSync(deep, path);
      }
      folders.push(path);
    }
    yield;
  }
}

/** Empty if the path is no folder, or if another sweep has just removed it. */
function foldersIn(folder: Buffer): Buffer[] {
  reopenFolder(folder);
  try {
    const entries = readdirSync(folder, { encoding: 'buffer', withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}

function below(folder: string | Buffer, name: string | Buffer): Buffer {
  return Buffer.concat([Buffer.from(folder), Buffer.from('/'), Buffer.from(name)]);
}
