import { changeSkills } from '../lock/change-skills.ts';
import { lockedByReference } from '../lock/locked-by-reference.ts';
import { assertReplaceable } from './assert-replaceable.ts';

/** Which skills go. */
export interface RemoveSkillsOptions {
  /** Path of the lock file. */
  lockFile: string;
  refs: readonly string[];
  /** Removes also what somebody has changed. */
  force?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Removes skills with their folders, all or none.
 *
 * @returns their ids
 * @throws SkillcellError `skills.reference-unknown`, `lock.mismatch`, `lock.invalid`, `store.conflict`
 */
export async function removeSkills({ lockFile, refs, force = false, signal }: RemoveSkillsOptions): Promise<string[]> {
  return await changeSkills(
    lockFile,
    async (lock, { folder: root }) => {
      const skills = lockedByReference(lock, refs);
      const changes = skills.map((locked) => {
        const { id, place } = locked;
        if (place === null) return { id, entry: null };
        if (!force) assertReplaceable({ root, place, id, files: null, locked });
        return { id, entry: null, folder: { place, tree: null } };
      });
      return { changes, result: skills.map(({ id }) => id) };
    },
    { signal },
  );
}
