import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import type { Skill } from '../../contracts/skills/skill.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { digestOf } from '../../skills/text/digest.ts';
import { admitApproved } from './admit-approved.ts';
import { recoverSkills } from './change-skills.ts';
import { LOCK_BYTES, parseLock } from './format/lock-format.ts';
import { readLockBytes } from './format/read-lock-bytes.ts';
import { SKILLS_LOCK_FILE } from './format/skills-lock.ts';
import type { ExclusiveOptions } from './with-exclusive.ts';

/** A lock file for callers that load only approved skills. */
export interface FrozenLock {
  /** The reason why a skill may not be loaded. */
  admit: (skill: Skill) => Diagnostic | undefined;
  /** Digest of the file: a change of it may admit other skills. */
  digest: string;
}

/**
 * Reads a lock file for `--frozen`. An interrupted change is completed first.
 *
 * @throws SkillcellError `lock.invalid`, also without a lock file; `lock.unapproved` where there is only a lock file of another tool
 */
export async function openFrozen(lockFile: string, options: ExclusiveOptions = {}): Promise<FrozenLock> {
  await recoverSkills(lockFile, options);
  const bytes = readLockBytes(lockFile, LOCK_BYTES);
  if (bytes === undefined) throw missing(lockFile);
  return { admit: admitApproved(parseLock(bytes, basename(lockFile))), digest: digestOf(bytes) };
}

function missing(lockFile: string): SkillcellError {
  const got = quotedText(lockFile);
  if (existsSync(join(dirname(lockFile), SKILLS_LOCK_FILE)))
    return new SkillcellError(
      'lock.unapproved',
      `Cannot load skills: there is only ${SKILLS_LOCK_FILE}, which holds no approvals, got ${got}.`,
      {
        hint: '`skillcell skills install` locks its skills; then approve them by `skillcell skills approve REF --as WHO`.',
      },
    );
  return new SkillcellError('lock.invalid', `Cannot load skills: there is no lock file, got ${got}.`, {
    hint: '`skillcell skills add SOURCE` writes one, and so does `skillcell skills approve`; --lock names another.',
  });
}
