import type { Diagnostic } from '../../contracts/diagnostic.ts';
import type { Skill } from '../../contracts/skill.ts';
import { SkillcellError } from '../../contracts/skillcell-error.ts';
import { quotedText } from '../../contracts/quoted-text.ts';
import { admitApproved } from './admit-approved.ts';
import { recoverSkills } from './change-skills.ts';
import { readLock } from './read-lock.ts';
import type { ExclusiveOptions } from './with-exclusive.ts';

/**
 * Reads a lock file for whoever loads nothing else. A change that somebody has not ended is ended first.
 *
 * @returns says why a skill may not be loaded
 * @throws SkillcellError `lock.invalid`, also where there is none
 */
export async function openFrozen(
  lockFile: string,
  options: ExclusiveOptions = {},
): Promise<(skill: Skill) => Diagnostic | undefined> {
  await recoverSkills(lockFile, options);
  const lock = readLock(lockFile);
  if (lock !== undefined) return admitApproved(lock);
  throw new SkillcellError('lock.invalid', `Cannot load skills: there is no lock file, got ${quotedText(lockFile)}.`);
}
