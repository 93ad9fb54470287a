import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { changeSkills } from '../lock/change-skills.ts';
import { compareLocked } from '../lock/compare-locked.ts';
import type { LockedSkill } from '../lock/format/lock-format.ts';
import type { FoundSkill } from '../sources/find-in-source.ts';
import { assertReplaceable } from './steps/assert-replaceable.ts';
import { lockedSkill } from './steps/locked-skill.ts';

/** Where skills are added. */
export interface AddSkillsOptions {
  /** Path of the lock file. */
  lockFile: string;
  /** Path of the folder of skills below that of the lock file, `.` for that folder itself. */
  into: string;
  /** Replaces also what somebody has changed. */
  force?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/** What became of one skill. */
export interface AddedSkill {
  id: string;
  /** Path of its folder below that of the lock file. */
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
  // Nobody waits for what takes long.
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

/** One lock file holds one skill of an id; its folder must not stay behind. */
function elsewhere({ id, place }: LockedSkill): SkillcellError {
  return new SkillcellError(
    'lock.mismatch',
    `Cannot add ${id}: it is locked in another folder, got ${place ?? 'the package'}.`,
    {
      hint: 'Remove it first, or give this folder a lock file of its own by --lock.',
    },
  );
}
