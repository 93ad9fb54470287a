import type { Stats } from 'node:fs';
import { lstat, open, readdir, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { OmittedFile } from '../../contracts/jobs/result.ts';
import { specialKind } from '../../protocol/files/file-kind.ts';
import { printablePath, shownPathFault } from '../../protocol/files/shown-path.ts';
import { openFolderIn, throughDescriptor } from '../../durable/open-beneath.ts';

const MAX_OMITTED = 200;

/** Contents of a folder of the host that is an input of a job. */
export interface InputFolder {
  /** Regular files in path order; the paths are relative to the folder. */
  files: { path: string; bytes: number }[];
  /** Entries left out: not a regular file, unreadable, or with a name that cannot be shown. */
  omitted: OmittedFile[];
  /** Whether there are more than `maxEntries` entries. */
  overLimit: boolean;
}

/**
 * Walks a folder by the rules for artifacts: regular files only, no link is followed, and names must be free of invisible characters.
 *
 * @param root the folder; symlinks in its own path come from the caller and are followed
 * @param destination prefix of the paths in the workspace
 * @param maxEntries maximum number of files and folders
 */
export async function listInputFolder(root: string, destination: string, maxEntries: number): Promise<InputFolder> {
  const found: InputFolder = { files: [], omitted: [], overLimit: false };
  let entries = 0;
  let unnamed = 0;
  const omit = (path: string, reason: string): void => {
    if (found.omitted.length < MAX_OMITTED)
      found.omitted.push({ path: printablePath(`${destination}/${path}`), reason });
    else unnamed += 1;
  };

  const walk = async (folder: FileHandle, below: string): Promise<void> => {
    const at = throughDescriptor(folder, join(root, below));
    // Read names as bytes: a file system may hold names that are not UTF-8.
    for (const raw of (await readdir(at, { encoding: 'buffer' })).toSorted(Buffer.compare)) {
      const name = raw.toString('utf8');
      const path = below === '' ? name : `${below}/${name}`;
      entries += 1;
      if (entries > maxEntries) found.overLimit = true;
      if (found.overLimit) return;
      try {
        const fault = Buffer.from(name).equals(raw)
          ? shownPathFault(`${destination}/${path}`)
          : 'its name is not UTF-8';
        const status = fault === undefined ? await lstat(join(at, name)) : undefined;
        const reason = fault ?? specialKind(status as Stats);
        if (reason !== undefined) omit(path, reason);
        else if (status?.isDirectory() === true) await walkInto(folder, path, name);
        else found.files.push({ path, bytes: status?.size ?? 0 });
      } catch (error) {
        // Entries that are unreadable or were removed meanwhile are left out, like refused ones.
        omit(path, `unreadable (${(error as NodeJS.ErrnoException).code ?? 'error'})`);
      }
    }
  };

  const walkInto = async (parent: FileHandle, path: string, name: string): Promise<void> => {
    const folder = await openFolderIn(parent, join(root, path), name);
    try {
      await walk(folder, path);
    } finally {
      await folder.close();
    }
  };

  const top = await open(root);
  try {
    await walk(top, '');
  } finally {
    await top.close();
  }
  if (unnamed > 0) found.omitted.push({ path: '…', reason: `${unnamed} more entries were left out` });
  return found;
}
