import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { printablePath } from '../protocol/shown-path.ts';
import { invalid } from './job-schema.ts';

/**
 * Refuses a place for artifacts that can never take them, before anything runs for it. A folder that is not there yet is
 * made when the first artifact comes.
 *
 * @throws SkillcellError `job.invalid`
 */
export async function checkOutputFolder(path: string | undefined): Promise<void> {
  if (path === undefined) return;
  try {
    const status = await stat(path);
    if (!status.isDirectory()) throw invalid(`output must be a folder, got ${printablePath(path)}`);
    await access(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return;
    if (code === 'ENOTDIR') throw invalid(`output must be a folder below folders, got ${printablePath(path)}`);
    if (code === 'EACCES' || code === 'EROFS')
      throw invalid(`output must be a folder that can be written, got ${printablePath(path)}`);
    throw error;
  }
}
