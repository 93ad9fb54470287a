import { recoverSkills } from '../lock/change-skills.ts';
import { compareLocked, type Deviation } from '../lock/compare-locked.ts';
import { isApproved } from '../lock/approval.ts';
import { lockPlaces } from '../lock/format/lock-places.ts';
import { lockedByReference } from '../lock/locked-by-reference.ts';
import { readLock } from '../lock/format/read-lock.ts';
import { builtinSkills, compareBuiltin } from './steps/builtin-skills.ts';

/** One locked skill, compared with its folder. */
export interface VerifiedSkill {
  id: string;
  /** Null for a built-in skill. */
  place: string | null;
  digest: string;
  isApproved: boolean;
  /** Every file that deviates from the lock. */
  deviations: Deviation[];
}

/** Options of a verification. */
export interface VerifySkillsOptions {
  /** Path of the lock file. */
  lockFile: string;
  /** All skills if empty. */
  refs?: readonly string[] | undefined;
  /** Absolute path of the built-in skills. */
  builtinFolder?: string | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Compares locked skills with their folders, byte by byte.
 *
 * @returns one row for each skill; undefined where there is no lock file
 * @throws SkillcellError `lock.invalid`, `skills.reference-unknown`
 */
export async function verifySkills(options: VerifySkillsOptions): Promise<VerifiedSkill[] | undefined> {
  const { lockFile, refs = [], builtinFolder, signal } = options;
  await recoverSkills(lockFile, { signal });
  const lock = readLock(lockFile);
  if (lock === undefined) return undefined;
  const { folder } = lockPlaces(lockFile);
  const skills = refs.length === 0 ? [...lock.values()] : lockedByReference(lock, refs);
  const builtin = builtinSkills(builtinFolder);
  return skills.map((skill) => {
    const { id, place, digest } = skill;
    const deviations = place === null ? compareBuiltin(skill, builtin) : compareLocked(folder, skill);
    return { id, place, digest, isApproved: isApproved(skill), deviations };
  });
}
