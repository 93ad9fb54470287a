import { withoutArchiveEnding } from '../contracts/skills/archive-ending.ts';

/**
 * The name of a skill's folder in an archive, which is its id. A skill at the root has the name of the archive, as one that is a root has that of
 * its folder.
 *
 * @param folder path in the archive, `.` for the archive itself
 * @param file name of the archive
 * @returns empty where nothing names it
 */
export function skillName(folder: string, file: string): string {
  return folder === '.' ? withoutArchiveEnding(file) : folder.slice(folder.lastIndexOf('/') + 1);
}
