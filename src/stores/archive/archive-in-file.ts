import { resolve } from 'node:path';
import { ArchiveRefusal, archiveRefused } from '../../archives/archive-refused.ts';
import { archiveIdentity, readArchiveFile } from '../../archives/read-archive-file.ts';
import { SkillcellError } from '../../contracts/skillcell-error.ts';
import type { ArchivePlace } from './archive-place.ts';

/** An archive that is a file here. */
export function archiveInFile(path: string): ArchivePlace {
  const source = resolve(path);
  return {
    source,
    identity: async () => await available(source, archiveIdentity(source)),
    read: async () => await available(source, readArchiveFile(source)),
  };
}

/** A file that is not there, or cannot be read, is an outage: never an archive without skills. */
async function available<Result>(source: string, reading: Promise<Result>): Promise<Result> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ArchiveRefusal) throw archiveRefused(error, JSON.stringify(source));
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' ? 'there is no such file' : message;
    throw new SkillcellError('store.unavailable', `Cannot read skills: ${reason}, got ${JSON.stringify(source)}.`, {
      cause: error,
    });
  }
}
