import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY;
// Without O_NONBLOCK, opening a pipe waits for a writer that may never come.
const FILE = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/**
 * Opens a file below a folder for reading. Every folder in the path is opened from its parent, and no link is followed. A process that
 * writes below the folder at the same time therefore cannot redirect the path.
 *
 * @param root a folder of the host; links in its own path are followed
 * @param path relative path
 * @throws the system's error, ELOOP or ENOTDIR for a link in `path`
 */
export async function openBeneath(root: string, path: string): Promise<FileHandle> {
  const components = path.split('/');
  const name = components.pop() ?? path;
  let folder = await open(root, FOLDER);
  let at = root;
  try {
    for (const component of components) {
      at = join(at, component);
      const next = await openFolderIn(folder, at, component);
      await folder.close();
      folder = next;
    }
    return await open(join(throughDescriptor(folder, at), name), FILE);
  } finally {
    await folder.close();
  }
}

/** Opens a folder from its parent, without following a link. */
export function openFolderIn(parent: FileHandle, path: string, name: string): Promise<FileHandle> {
  const opened = process.platform === 'linux' ? join(throughDescriptor(parent, ''), name) : path;
  return open(opened, FOLDER | constants.O_NOFOLLOW);
}

/** A path through the open descriptor, so that a link cannot replace the folder in the meantime. */
export function throughDescriptor(folder: FileHandle, otherwise: string): string {
  return process.platform === 'linux' ? `/proc/self/fd/${folder.fd}` : otherwise;
}
