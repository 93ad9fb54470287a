import { Buffer } from 'node:buffer';
import { lstatSync, readdirSync, renameSync } from 'node:fs';
import { reopenFolder } from './reopen-folder.ts';

/** Beyond these bytes a path is made short again: no system takes one of any length. */
const LONG_PATH = 500;

/**
 * Makes a tree that user code wrote one that can be removed: gives each folder its permissions back, and moves those that lie deeper than
 * a path is long to the top. Yields after each folder, for callers with other work. To be called as the owner, when no process of
 * user code is left.
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

/** None where it is no folder, or another sweep has just removed it. */
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
