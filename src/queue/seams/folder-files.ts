import { createReadStream } from 'node:fs';
import { lstat, mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { syncFolder } from '../../durable/durable-file.ts';
import { diskFault } from './disk-fault.ts';
import type { JobFiles, JobInput } from './job-files.ts';

/** The files of jobs in folders of one host: `FOLDER/<id>/`. */
export function folderFiles(folder: string): JobFiles {
  const path = (id: string, name: string): string => join(folder, id, name);
  return {
    path,
    async create(id, inputs) {
      const inside = path(id, 'in');
      await mkdir(inside, { recursive: true, mode: 0o700 });
      for (const [number, input] of inputs.entries()) await writeInput(join(inside, String(number)), input);
      for (const each of [inside, join(folder, id), folder]) syncFolder(each);
    },
    async size(id, name) {
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
    remove: (id) => rm(join(folder, id), { recursive: true, force: true }),
    ids: () => readdir(folder),
  };
}

async function writeInput(path: string, { content, executable }: JobInput): Promise<void> {
  const file = await open(path, 'wx', executable ? 0o700 : 0o600);
  try {
    await file.writeFile(content instanceof Uint8Array ? content : content.read());
    await file.sync();
  } catch (error) {
    throw diskFault(error);
  } finally {
    await file.close();
  }
}
