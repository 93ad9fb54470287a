import { SkillcellError } from '../../contracts/skillcell-error.ts';
import { changeSkills } from '../lock/change-skills.ts';
import { compareLocked } from '../lock/compare-locked.ts';
import type { LockedSkill } from '../lock/lock-format.ts';
import { lockedByReference } from '../lock/locked-by-reference.ts';
import { deviationDiagnostics } from './deviation-diagnostics.ts';

/** Who approves what. */
export interface ApproveSkillsOptions {
  /** Path of the lock file. */
  lockFile: string;
  refs: readonly string[];
  /** A name, as people write it. */
  as: string;
  signal?: AbortSignal | undefined;
}

/**
 * Writes down that somebody has looked at skills and lets them be used. It holds for the locked bytes, which have to be those that are there:
 * else something would be approved that nobody sees.
 *
 * @throws SkillcellError `skills.reference-unknown`, `lock.mismatch`, `lock.invalid`, `store.conflict`
 */
export async function approveSkills(options: ApproveSkillsOptions): Promise<LockedSkill[]> {
  const { lockFile, refs, as, signal } = options;
  return await changeSkills(
    lockFile,
    async (lock, { folder }) => {
      const approved = lockedByReference(lock, refs).map((skill): LockedSkill => {
        const rows = skill.place === null ? [] : compareLocked(folder, skill);
        if (rows.length > 0)
          throw new SkillcellError(
            'lock.mismatch',
            `Cannot approve the skill: its folder does not hold what is locked, got ${skill.id}.`,
            { diagnostics: deviationDiagnostics(rows) },
          );
        return { ...skill, approval: { by: as, digest: skill.digest } };
      });
      return { changes: approved.map((entry) => ({ id: entry.id, entry })), result: approved };
    },
    { signal },
  );
}
