import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SkillTree } from '../contracts/skills/skill.ts';
import { atPlace } from './file-system-fault.ts';
import { removeTree } from './remove-tree.ts';
import { syncFolder, tornPath, writeWhole } from './durable-file.ts';

/** Permissions of the written entries. `kept` is read-only. */
const MODES = {
  kept: { file: 0o444, executable: 0o555, folder: 0o555 },
  plain: { file: 0o644, executable: 0o755, folder: 0o755 },
} as const;

/**
 * Writes a new folder with files atomically. It is on the disk when this returns. Until then it has a temporary name with its owner, so that
 * `removeTorn` can remove it after a crash.
 *
 * @param parent absolute path of an existing folder
 * @param name name of the new folder
 * @param tree files by valid relative paths
 * @returns false if the name exists already; it is not changed. An empty folder is replaced
 * @throws the system's error
 */
export function writeTree(parent: string, name: string, tree: SkillTree, rights: keyof typeof MODES): boolean {
  const modes = MODES[rights];
  const aside = tornPath(parent);
  mkdirSync(aside, { mode: 0o700 });
  try {
    const folders = new Set<string>([aside]);
    for (const [path, { bytes, executable }] of tree) {
      const place = join(aside, path);
      addFolders(folders, dirname(place));
      const file = openSync(place, 'wx', executable ? modes.executable : modes.file);
      try {
        writeWhole(file, bytes);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      // The umask of this process does not apply.
      chmodSync(place, executable ? modes.executable : modes.file);
    }
    for (const folder of [...folders].toReversed()) {
      syncFolder(folder);
      // A folder without write permission cannot be renamed.
      if (folder !== aside) chmodSync(folder, modes.folder);
    }
    if (!takePlace(aside, join(parent, name))) {
      removeTree(aside);
      return false;
    }
    chmodSync(join(parent, name), modes.folder);
    syncFolder(parent);
    return true;
  } catch (error) {
    removeTree(aside);
    throw atPlace(error, parent);
  }
}

function takePlace(aside: string, place: string): boolean {
  try {
    renameSync(aside, place);
    return true;
  } catch (error) {
    // The name is a folder with content, or not a folder.
    if (['EEXIST', 'ENOTEMPTY', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

function addFolders(folders: Set<string>, folder: string): void {
  if (folders.has(folder)) return;
  addFolders(folders, dirname(folder));
  mkdirSync(folder, { mode: 0o700 });
  folders.add(folder);
}
