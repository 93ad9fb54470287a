import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { InputFile } from '../contracts/job.ts';
import { SkillcellError } from '../contracts/skillcell-error.ts';
import type { TarFile } from '../protocol/tar.ts';

/**
 * Reads the job's input files, each when its turn comes. A source must be a regular file, which the opened descriptor
 * decides, and all together must fit into the workspace.
 *
 * @throws SkillcellError `file.unreadable`
 */
export async function* readInputFiles(files: readonly InputFile[], maxBytes: number): AsyncGenerator<TarFile> {
  let room = maxBytes;
  for (const file of files) {
    if ('bytes' in file) {
      if (file.bytes.length > room) throw tooLarge(file.destination, maxBytes);
      room -= file.bytes.length;
      yield { path: file.destination, bytes: file.bytes, executable: file.executable ?? false };
    } else {
      const { bytes, executable } = await readHostFile(file.source, room);
      room -= bytes.length;
      yield { path: file.destination, bytes, executable };
    }
  }
}

/** Refuses the sources of a job that cannot be read, before anything is started for it. */
export async function checkInputFiles(files: readonly InputFile[], maxBytes: number): Promise<void> {
  let total = 0;
  for (const file of files) {
    if ('bytes' in file) total += file.bytes.length;
    else {
      const handle = await openRegular(file.source);
      total += handle.size;
      await handle.close();
    }
    if (total > maxBytes) throw tooLarge(file.destination, maxBytes);
  }
}

/** Reads a regular file of the host that has at most `maxBytes`. @throws SkillcellError `file.unreadable` */
export async function readHostFile(path: string, maxBytes: number): Promise<{ bytes: Buffer; executable: boolean }> {
  const file = await openRegular(path);
  try {
    if (file.size > maxBytes) throw tooLarge(path, maxBytes);
    const bytes = Buffer.alloc(file.size);
    let offset = 0;
    while (offset < bytes.length) {
      const { bytesRead } = await file.handle.read(bytes, offset, bytes.length - offset, offset);
      if (bytesRead === 0) break;
      offset += bytesRead;
    }
    return { bytes: bytes.subarray(0, offset), executable: file.executable };
  } finally {
    await file.close();
  }
}

async function openRegular(path: string) {
  let handle;
  try {
    // Without O_NONBLOCK, opening a pipe waits for a writer that may never come.
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    throw new SkillcellError('file.unreadable', `Cannot read a file: ${(cause as Error).message}.`, { cause });
  }
  const status = await handle.stat();
  if (!status.isFile()) {
    await handle.close();
    throw new SkillcellError('file.unreadable', `Cannot read a file: it is no regular file, got ${path}.`);
  }
  return { handle, size: status.size, executable: (status.mode & 0o111) !== 0, close: () => handle.close() };
}

function tooLarge(path: string, maxBytes: number): SkillcellError {
  return new SkillcellError(
    'file.unreadable',
    `Cannot send the files: together they are over ${maxBytes} bytes, got ${path}.`,
  );
}
