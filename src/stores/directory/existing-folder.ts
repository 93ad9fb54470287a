import { lstatSync, realpathSync } from 'node:fs';
import { SkillcellError } from '../../contracts/skillcell-error.ts';

/** The path of a folder, links resolved. @throws SkillcellError `store.unavailable` where there is none */
export function existingFolder(path: string): string {
  try {
    const real = realpathSync.native(path);
    if (lstatSync(real).isDirectory()) return real;
  } catch {
    // Said below.
  }
  throw new SkillcellError('store.unavailable', `Cannot read skills: there is no folder, got ${path}.`);
}
