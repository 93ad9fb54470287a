import type { Stats } from 'node:fs';
import { lstat, open, readdir, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { OmittedFile } from '../../contracts/jobs/result.ts';
import { specialKind } from '../../protocol/files/file-kind.ts';
import { printablePath, shownPathFault } from '../../protocol/files/shown-path.ts';
import { openFolderIn, throughDescriptor } from '../../durable/open-beneath.ts';

const MAX_OMITTED = 200;

/** What is below a folder of the host that a job takes. */
export interface InputFolder {
  /** Regular files in path order, as paths below the folder. */
  files: { path: string; bytes: number }[];
  /** What is left out: all that is no regular file, and what cannot be read or shown by its name. */
  omitted: OmittedFile[];
  /** Whether there are more entries than may be. */
  overLimit: boolean;
}

/**
 * Walks a folder by the rules that hold for artifacts on their way out: regular files only, no link is followed, and a name
 * shows what it is.
 *
 * @param root the folder; links on the way to it are the caller's own and are followed
 * @param destination what the paths begin with in the workspace
 * @param maxEntries files and folders
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
    // Names as bytes: not all that a file system holds are UTF-8.
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
        // What cannot be read, or went away meanwhile, is left out like what may not be taken.
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
