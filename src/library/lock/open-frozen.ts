import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Diagnostic } from '../../contracts/diagnostic.ts';
import { quotedText } from '../../contracts/quoted-text.ts';
import type { Skill } from '../../contracts/skill.ts';
import { SkillcellError } from '../../contracts/skillcell-error.ts';
import { digestOf } from '../../skills/text/digest.ts';
import { admitApproved } from './admit-approved.ts';
import { recoverSkills } from './change-skills.ts';
import { parseLock } from './lock-format.ts';
import type { ExclusiveOptions } from './with-exclusive.ts';

/** A lock file for whoever loads nothing that is not approved in it. */
export interface FrozenLock {
  /** Says why a skill may not be loaded. */
  admit: (skill: Skill) => Diagnostic | undefined;
  /** Digest of the file: with another one, other skills are let through. */
  digest: string;
}

/**
 * Reads a lock file as `--frozen` does. A change that somebody has not ended is ended first.
 *
 * @throws SkillcellError `lock.invalid`, also where there is none
 */
export async function openFrozen(lockFile: string, options: ExclusiveOptions = {}): Promise<FrozenLock> {
  await recoverSkills(lockFile, options);
  let bytes: Buffer;
  try {
    bytes = readFileSync(lockFile);
  } catch (cause) {
    const reason =
      (cause as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no lock file' : (cause as Error).message;
    const message = `Cannot load skills: ${reason}, got ${quotedText(lockFile)}.`;
    throw new SkillcellError('lock.invalid', message, { cause });
  }
  return { admit: admitApproved(parseLock(bytes, basename(lockFile))), digest: digestOf(bytes) };
}
