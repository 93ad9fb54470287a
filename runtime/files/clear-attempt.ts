import { lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { flattenTree } from '../../src/protocol/files/flatten-tree.ts';
import { reopenFolder } from '../../src/protocol/files/reopen-folder.ts';
import type { SandboxLayout } from '../sandbox/sandbox-layout.ts';

/** Entries of the workspace that installers make: they are those of the job, not of an attempt. */
const OF_INSTALLERS: ReadonlySet<string> = new Set(['node_modules', 'package.json', 'package-lock.json', '.packages']);
const NOTHING: ReadonlySet<string> = new Set();

/**
 * Empties a folder of an attempt. The regular files in `kept` (paths below the folder) stay, with their parent folders.
 *
 * @param whole names of entries that stay as they are
 */
function clearFolder(folder: string, kept: ReadonlySet<string>, whole: ReadonlySet<string> = NOTHING): void {
  const onTheWay = new Set<string>();
  for (const path of kept) {
    for (let cut = path.indexOf('/'); cut > 0; cut = path.indexOf('/', cut + 1)) onTheWay.add(path.slice(0, cut));
  }
  const clear = (below: string): void => {
    // Names as bytes: a program can create names that are not UTF-8.
    for (const raw of readdirSync(join(folder, below), { encoding: 'buffer' })) {
      const path = join(below, raw.toString('utf8'));
      if (whole.has(path)) continue;
      const full = Buffer.concat([Buffer.from(`${join(folder, below)}/`), raw]);
      const status = lstatSync(full);
      if (status.isDirectory() && onTheWay.has(path)) {
        reopenFolder(join(folder, path));
        clear(path);
      } else if (!status.isFile() || !kept.has(path)) remove(full);
    }
  };
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    // If the folder is not a file system of its own, a program can remove or replace it.
    rmSync(folder, { force: true });
    mkdirSync(folder);
  }
  reopenFolder(folder);
  clear('');
}

/**
 * Removes all files of an attempt from the sandbox except the input files in the workspace. Call it as the owner, after the last process of the
 * attempt has ended.
 *
 * @param hasPackages whether packages were installed before the first attempt; they stay
 */
export function clearAttempt(layout: SandboxLayout, inputs: ReadonlySet<string>, hasPackages = false): void {
  const { workspace, value } = layout;
  clearFolder(workspace, inputs, hasPackages ? OF_INSTALLERS : NOTHING);
  clearFolder(value, NOTHING);
  clearTemporary(layout);
  clearSharedMemory(layout);
}

/** Empties the temporary folder of user code. */
export function clearTemporary({ level, temporary }: SandboxLayout): void {
  if (level === 'none') clearFolder(temporary, NOTHING);
  else clearOwn(level === 'namespace' ? '/inner/tmp' : temporary);
}

/** Removes the files of ended processes from /dev/shm: they occupy memory, which would count against the limit of the next program. */
export function clearSharedMemory({ sharedMemory }: SandboxLayout): void {
  if (sharedMemory !== undefined) clearOwn(sharedMemory);
}

/** Removes the entries that belong to the calling user. */
function clearOwn(folder: string): void {
  reopenFolder(folder);
  const own = process.geteuid?.();
  for (const name of readdirSync(folder, { encoding: 'buffer' })) {
    const path = Buffer.concat([Buffer.from(`${folder}/`), name]);
    if (lstatSync(path, { throwIfNoEntry: false })?.uid === own) remove(path);
  }
}

/** Opens folders without permissions first, since those stop even their owner. */
function remove(path: Buffer): void {
  if (lstatSync(path).isDirectory()) for (const _ of flattenTree(path));
  rmSync(path, { recursive: true, force: true });
}
