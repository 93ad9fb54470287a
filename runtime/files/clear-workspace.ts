import { lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { flattenTree } from '../../src/protocol/flatten-tree.ts';
import { reopenFolder } from '../../src/protocol/reopen-folder.ts';

/**
 * Removes what an attempt left in the workspace, so that the next one has its room. The regular files of `kept` stay, as
 * paths below the folder, with the folders on the way to them. To be called as the owner, when no process of the attempt is
 * left.
 */
export function clearWorkspace(folder: string, kept: ReadonlySet<string>): void {
  const onTheWay = new Set<string>();
  for (const path of kept) {
    for (let cut = path.indexOf('/'); cut > 0; cut = path.indexOf('/', cut + 1)) onTheWay.add(path.slice(0, cut));
  }
  const clear = (below: string): void => {
    // Names as bytes: not all that a program can make are UTF-8.
    for (const raw of readdirSync(join(folder, below), { encoding: 'buffer' })) {
      const path = join(below, raw.toString('utf8'));
      const full = Buffer.concat([Buffer.from(`${join(folder, below)}/`), raw]);
      const status = lstatSync(full);
      if (status.isDirectory() && onTheWay.has(path)) {
        reopenFolder(join(folder, path));
        clear(path);
      } else if (!status.isFile() || !kept.has(path)) remove(full, status.isDirectory());
    }
  };
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    // Where it is no file system of its own, a program can remove it or put something else in its place.
    rmSync(folder, { force: true });
    mkdirSync(folder);
  }
  reopenFolder(folder);
  clear('');
}

/** Folders without permissions stop their own owner, too. */
function remove(path: Buffer, isFolder: boolean): void {
  if (isFolder) for (const _ of flattenTree(path));
  rmSync(path, { recursive: true, force: true });
}
