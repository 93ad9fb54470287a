import { withoutArchiveEnding } from '../contracts/skills/archive-ending.ts';

/**
 * The folder name of a skill in an archive, which becomes its id. A skill at the root takes the name of the archive.
 *
 * @param folder path in the archive, `.` for the archive itself
 * @param file file name of the archive
 * @returns may be empty
 */
export function skillName(folder: string, file: string): string {
  return folder === '.' ? withoutArchiveEnding(file) : folder.slice(folder.lastIndexOf('/') + 1);
}
