import { recoverSkills } from '../lock/change-skills.ts';
import { compareLocked, type Deviation } from '../lock/compare-locked.ts';
import { isApproved } from '../lock/approval.ts';
import { lockPlaces } from '../lock/lock-places.ts';
import { lockedByReference } from '../lock/locked-by-reference.ts';
import { readLock } from '../lock/read-lock.ts';

/** One locked skill, compared with its folder. */
export interface VerifiedSkill {
  id: string;
  place: string;
  digest: string;
  isApproved: boolean;
  /** Every file that is no longer as it is locked. */
  deviations: Deviation[];
}

/** What is verified. */
export interface VerifySkillsOptions {
  /** Path of the lock file. */
  lockFile: string;
  /** Without any, all. */
  refs?: readonly string[] | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Compares locked skills with their folders, byte by byte.
 *
 * @returns one row a skill that has a folder; undefined where there is no lock file
 * @throws SkillcellError `lock.invalid`, `skills.reference-unknown`
 */
export async function verifySkills(options: VerifySkillsOptions): Promise<VerifiedSkill[] | undefined> {
  const { lockFile, refs = [], signal } = options;
  await recoverSkills(lockFile, { signal });
  const lock = readLock(lockFile);
  if (lock === undefined) return undefined;
  const { folder } = lockPlaces(lockFile);
  const skills = refs.length === 0 ? [...lock.values()] : lockedByReference(lock, refs);
  return skills.flatMap((skill) => {
    const { id, place, digest } = skill;
    if (place === null) return [];
    return [{ id, place, digest, isApproved: isApproved(skill), deviations: compareLocked(folder, skill) }];
  });
}
