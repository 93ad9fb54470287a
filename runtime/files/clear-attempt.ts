import { lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { flattenTree } from '../../src/protocol/files/flatten-tree.ts';
import { reopenFolder } from '../../src/protocol/files/reopen-folder.ts';
import type { SandboxLayout } from '../sandbox/sandbox-layout.ts';

/**
 * Removes what an attempt left in a folder of its own. The regular files of `kept` stay, as paths below
 * the folder, with the folders on the way to them.
 */
function clearFolder(folder: string, kept: ReadonlySet<string>): void {
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
      } else if (!status.isFile() || !kept.has(path)) remove(full);
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

/**
 * Removes all that an attempt left in the sandbox but the input files in the workspace. To be called as the owner, when no process of the
 * attempt is left.
 */
export function clearAttempt(layout: SandboxLayout, inputs: ReadonlySet<string>): void {
  const { level, workspace, value, temporary } = layout;
  clearFolder(workspace, inputs);
  clearFolder(value, new Set());
  if (level === 'none') clearFolder(temporary, new Set());
  else clearOwn(level === 'namespace' ? '/inner/tmp' : temporary);
  clearSharedMemory(layout);
}

/** Removes what ended processes left in /dev/shm: it is memory of theirs, and the next one's limit would count it. */
export function clearSharedMemory({ sharedMemory }: SandboxLayout): void {
  if (sharedMemory !== undefined) clearOwn(sharedMemory);
}

/** Removes what belongs to the one who asks. */
function clearOwn(folder: string): void {
  reopenFolder(folder);
  const own = process.geteuid?.();
  for (const name of readdirSync(folder, { encoding: 'buffer' })) {
    const path = Buffer.concat([Buffer.from(`${folder}/`), name]);
    if (lstatSync(path, { throwIfNoEntry: false })?.uid === own) remove(path);
  }
}

/** Folders without permissions stop their own owner, too. */
function remove(path: Buffer): void {
  if (lstatSync(path).isDirectory()) for (const _ of flattenTree(path));
  rmSync(path, { recursive: true, force: true });
}
