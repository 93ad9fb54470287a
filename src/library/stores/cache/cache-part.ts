import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { removeTorn } from '../../../durable/durable-file.ts';
import { privatePart } from './private-folder.ts';

/**
 * A folder of the cache for files that only save time.
 *
 * @returns null where it cannot be made: everything works without it, but slower
 * @throws SkillcellError `store.unavailable` for a cache that other users may write
 */
export function folderOf(cacheFolder: string, part: string): string | null {
  try {
    const folder = privatePart(cacheFolder, part);
    removeTorn(folder);
    return folder;
  } catch (error) {
    if (SkillcellError.isInstance(error)) throw error;
    // A read-only home, or a full disk.
    return null;
  }
}
