import { createReadStream, statSync } from 'node:fs';
import { lstat, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { syncFolder } from '../../durable/durable-file.ts';
import { diskFault, stateLost } from './disk-fault.ts';
import type { JobFiles, JobInput } from './job-files.ts';

/** The files of jobs in folders of one host: `FOLDER/<id>/`. FOLDER exists. */
export function folderFiles(folder: string): JobFiles {
  const path = (id: string, name: string): string => join(folder, id, name);
  const opened = statSync(folder);
  const remove = (id: string): Promise<void> => rm(join(folder, id), { recursive: true, force: true });
  /** A folder that was removed and made again is another one: the files of its jobs are gone. */
  const isReady = async (): Promise<boolean> => {
    const { ino, dev } = await stat(folder).catch(() => ({ ino: 0, dev: 0 }));
    return ino === opened.ino && dev === opened.dev;
  };
  return {
    path,
    isReady,
    async create(id, inputs) {
      if (!(await isReady())) throw stateLost();
      await makeFolder(join(folder, id));
      if (inputs.length > 0) {
        const inside = path(id, 'in');
        await makeFolder(inside);
        for (const [number, input] of inputs.entries()) await writeInput(join(inside, String(number)), input);
        syncFolder(inside);
      }
      for (const each of [join(folder, id), folder]) syncFolder(each);
    },
    // All hosts of a job are this one.
    take: async () => undefined,
    publish: async () => undefined,
    bringLogs: async () => undefined,
    leave: async () => undefined,
    async size({ id }, name) {
      try {
        const stats = await lstat(path(id, name));
        return stats.isFile() ? stats.size : undefined;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
    },
    read: (id, name, { start, end }) =>
      end <= start ? Readable.from([]) : createReadStream(path(id, name), { start, end: end - 1 }),
    remove,
    removeStray: remove,
    ids: () => readdir(folder),
  };
}

/** Makes one folder, and none above it. */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ENOENT' ? stateLost() : diskFault(error);
  }
}

async function writeInput(path: string, { content, executable }: JobInput): Promise<void> {
  const file = await open(path, 'wx', executable ? 0o700 : 0o600).catch((error: unknown) => {
    throw diskFault(error);
  });
  try {
    await file.writeFile(content instanceof Uint8Array ? content : content.read());
    await file.sync();
  } catch (error) {
    throw diskFault(error);
  } finally {
    await file.close();
  }
}
