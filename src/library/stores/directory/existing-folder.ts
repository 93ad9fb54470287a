import { accessSync, constants, lstatSync, realpathSync } from 'node:fs';
import type { Diagnostic } from '../../../contracts/errors/diagnostic.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';

/** The path of a folder, links resolved. @throws SkillcellError `store.unavailable` where there is no folder */
export function existingFolder(path: string): string {
  try {
    const real = realpathSync.native(path);
    if (lstatSync(real).isDirectory()) return real;
  } catch {
    // Reported below.
  }
  throw unavailable('there is no folder', path);
}

/** The path of a folder that this user may list. @throws SkillcellError `store.unavailable` */
export function readableFolder(path: string): string {
  const real = existingFolder(path);
  try {
    accessSync(real, constants.R_OK | constants.X_OK);
  } catch {
    // An outage is never an empty folder.
    throw unavailable('this user may not read the folder', path);
  }
  return real;
}

/**
 * Throws if a walk could not read the folder itself, so that it does not pass for an empty folder.
 *
 * @throws SkillcellError `store.unavailable`
 */
export function assertSeen(diagnostics: readonly Diagnostic[], path: string): void {
  const fault = diagnostics.find((found) => found.code === 'skill.unreadable' && found.path === '');
  if (fault !== undefined) throw unavailable(fault.message.replace(/\.$/, ''), path);
}

function unavailable(reason: string, path: string): SkillcellError {
  return new SkillcellError('store.unavailable', `Cannot read skills: ${reason}, got ${path}.`);
}
