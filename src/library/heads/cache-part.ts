import { join } from 'node:path';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { removeTorn } from '../../durable/durable-file.ts';
import { privateFolder } from '../stores/cache/private-folder.ts';

/**
 * A folder of the cache for files that are only there to save time.
 *
 * @returns null where none can be made: everything works without, and takes longer
 * @throws SkillcellError `store.unavailable` for a cache that somebody else may have written
 */
export function folderOf(cacheFolder: string, part: string): string | null {
  try {
    const folder = privateFolder(join(privateFolder(cacheFolder), part));
    removeTorn(folder);
    return folder;
  } catch (error) {
    if (SkillcellError.isInstance(error)) throw error;
    // A home that is read-only, or a full disk.
    return null;
  }
}
