import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { changeSkills } from '../lock/change-skills.ts';
import { compareLocked } from '../lock/compare-locked.ts';
import type { LockedSkill } from '../lock/format/lock-format.ts';
import type { FoundSkill } from '../sources/find-in-source.ts';
import { assertReplaceable } from './steps/assert-replaceable.ts';
import { lockedSkill } from './steps/locked-skill.ts';

/** Target of added skills. */
export interface AddSkillsOptions {
  /** Path of the lock file. */
  lockFile: string;
  /** Path of the folder of skills, relative to the folder of the lock file; `.` for that folder itself. */
  into: string;
  /** Also replaces folders with local changes. */
  force?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/** Result for one skill. */
export interface AddedSkill {
  id: string;
  /** Path of its folder, relative to the folder of the lock file. */
  place: string;
  state: 'added' | 'replaced' | 'unchanged';
  digest: string;
}

/**
 * Writes skills and locks them, all or none.
 *
 * @throws SkillcellError `lock.mismatch` where a folder would be lost; `lock.invalid`, `store.changed`, `store.conflict`
 */
export async function addSkills(found: readonly FoundSkill[], options: AddSkillsOptions): Promise<AddedSkill[]> {
  const { lockFile, into, force = false, signal } = options;
  // Slow reads come first, so that no other process waits for them.
  const arrived = found.map((one) => ({ one, tree: one.read() }));
  return await changeSkills(
    lockFile,
    async (lock, { folder: root }) => {
      const rows = arrived.map(({ one, tree }) => {
        const { id, skillId, files, digest } = one.skill;
        const place = into === '.' ? skillId : `${into}/${skillId}`;
        const before = lock.get(id);
        if (before !== undefined && before.place !== place) throw elsewhere(before);
        const entry = lockedSkill(one, place, before);
        if (!force) assertReplaceable({ root, place, id, files, locked: before });
        const isThere = compareLocked(root, entry).length === 0;
        const state: AddedSkill['state'] =
          before === undefined ? 'added' : before.digest === digest && isThere ? 'unchanged' : 'replaced';
        const change = { id, entry, ...(isThere ? {} : { folder: { place, tree } }) };
        return { change, result: { id, place, state, digest } };
      });
      return { changes: rows.map(({ change }) => change), result: rows.map(({ result }) => result) };
    },
    { signal },
  );
}

/** A lock file has one entry for each id, so the old folder would stay behind unlocked. */
function elsewhere({ id, place }: LockedSkill): SkillcellError {
  return new SkillcellError(
    'lock.mismatch',
    `Cannot add ${id}: it is locked in another folder, got ${place ?? 'the package'}.`,
    {
      hint: 'Remove it first, or give this folder a lock file of its own by --lock.',
    },
  );
}
