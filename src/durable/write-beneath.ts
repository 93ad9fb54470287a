import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, rename, unlink, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { throughDescriptor } from './open-beneath.ts';

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/**
 * Writes a file below a folder. Every folder in the path is opened from its parent without following links, and a rename gives the file its
 * name. So no link can redirect the path.
 *
 * @param root a folder of the host; links in its own path are followed
 * @param path relative and checked
 * @throws the system's error, ELOOP or ENOTDIR for a link in `path`
 */
export async function writeBeneath(root: string, path: string, bytes: Uint8Array): Promise<void> {
  const components = path.split('/');
  const name = components.pop() ?? path;
  await makeFolder(root);
  let folder = await open(root, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    for (const component of components) {
      const next = await openFolder(folder, root, component);
      await folder.close();
      folder = next;
    }
    await writeInto(throughDescriptor(folder, join(root, ...components)), name, bytes);
  } finally {
    await folder.close();
  }
}

/** Creates a folder and its parents. Node's recursive mkdir never ends below a folder that accepts no new entries, such as /proc. */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    const parent = dirname(path);
    if (code !== 'ENOENT' || parent === path) throw error;
    await makeFolder(parent);
    await mkdir(path).catch(ignoreExisting);
  }
}

/** Another artifact or another job created it first. */
function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

async function openFolder(parent: FileHandle, root: string, name: string): Promise<FileHandle> {
  const path = join(throughDescriptor(parent, root), name);
  try {
    return await open(path, FOLDER);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await mkdir(path, { mode: 0o755 });
    return await open(path, FOLDER);
  }
}

async function writeInto(folder: string, name: string, bytes: Uint8Array): Promise<void> {
  const temporary = join(folder, `.${randomBytes(8).toString('hex')}.part`);
  const file = await open(temporary, NEW_FILE, 0o644);
  try {
    try {
      await file.writeFile(bytes);
    } finally {
      await file.close();
    }
    await rename(temporary, join(folder, name));
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
}
