import type { Diagnostic } from '../../contracts/diagnostic.ts';
import { libraryDiagnostic } from '../../contracts/library-diagnostic.ts';
import { SKILL_FILE } from '../../skills/load/skill-file-name.ts';
import { withoutRange } from '../../skills/text/bare-reference.ts';
import type { TreeCache } from '../../stores/cache/tree-cache.ts';
import { changeSkills } from '../lock/change-skills.ts';
import type { LockedSkill, SkillLock } from '../lock/lock-format.ts';
import { lockedByReference } from '../lock/locked-by-reference.ts';
import { assertReplaceable } from './assert-replaceable.ts';
import { readInstalled } from './read-installed.ts';

/** Which skills go. */
export interface RemoveSkillsOptions {
  /** Path of the lock file. */
  lockFile: string;
  refs: readonly string[];
  cache: TreeCache;
  /** Removes also what somebody has changed. */
  force?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Removes skills with their folders, all or none.
 *
 * @returns their ids, and which locked skills import one of them
 * @throws SkillcellError `skills.reference-unknown`, `lock.mismatch`, `lock.invalid`, `store.conflict`
 */
export async function removeSkills({
  lockFile,
  refs,
  cache,
  force = false,
  signal,
}: RemoveSkillsOptions): Promise<{ removed: string[]; diagnostics: Diagnostic[] }> {
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
      const removed = skills.map(({ id }) => id);
      return { changes, result: { removed, diagnostics: importersOf(removed, lock, root, cache) } };
    },
    { signal },
  );
}

/** What is locked and no longer finds what it imports. */
function importersOf(removed: readonly string[], lock: SkillLock, root: string, cache: TreeCache): Diagnostic[] {
  const gone = new Set(removed);
  const stays = (locked: LockedSkill): boolean => !gone.has(locked.id);
  return [...lock.values()].filter(stays).flatMap((locked) => {
    const imports = readInstalled(root, locked, cache).skill?.fields.imports ?? [];
    return imports
      .map(withoutRange)
      .filter((id) => gone.has(id))
      .map((id) =>
        libraryDiagnostic('lock.imported', `${locked.id} imports ${id}, which is removed.`, {
          path: `${locked.place ?? locked.origin.folder}/${SKILL_FILE}`,
        }),
      );
  });
}
