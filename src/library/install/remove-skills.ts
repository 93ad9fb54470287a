import { join } from 'node:path';
import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import { libraryDiagnostic } from '../../contracts/errors/library-diagnostic.ts';
import { SKILL_FILE } from '../../skills/load/files/skill-file-name.ts';
import { withoutRange } from '../../skills/text/bare-reference.ts';
import { changeSkills } from '../lock/change-skills.ts';
import type { LockedSkill } from '../lock/format/lock-format.ts';
import { lockedByReference } from '../lock/locked-by-reference.ts';
import { assertReplaceable } from './steps/assert-replaceable.ts';
import { loadInstalled } from './steps/load-installed.ts';

/** Options of a removal. */
export interface RemoveSkillsOptions {
  /** Path of the lock file. */
  lockFile: string;
  refs: readonly string[];
  /** Also removes folders with local changes. */
  force?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Removes skills with their folders, all or none.
 *
 * @returns their ids, and diagnostics about locked skills that import one of them
 * @throws SkillcellError `skills.reference-unknown`, `lock.mismatch`, `lock.invalid`, `store.conflict`
 */
export async function removeSkills({
  lockFile,
  refs,
  force = false,
  signal,
}: RemoveSkillsOptions): Promise<{ removed: string[]; diagnostics: Diagnostic[] }> {
  const { root, removed, left } = await changeSkills(
    lockFile,
    async (lock, { folder }) => {
      const skills = lockedByReference(lock, refs);
      const changes = skills.map((locked) => {
        const { id, place } = locked;
        if (place === null) return { id, entry: null };
        if (!force) assertReplaceable({ root: folder, place, id, files: null, locked });
        return { id, entry: null, folder: { place, tree: null } };
      });
      const gone = new Set(skills.map(({ id }) => id));
      return {
        changes,
        result: { root: folder, removed: gone, left: [...lock.values()].filter(({ id }) => !gone.has(id)) },
      };
    },
    { signal },
  );
  return { removed: [...removed], diagnostics: left.flatMap((locked) => lostImports(root, locked, removed)) };
}

/** Diagnostics about imports of removed skills in a skill that stays. */
function lostImports(root: string, { id, place }: LockedSkill, removed: ReadonlySet<string>): Diagnostic[] {
  if (place === null) return [];
  const imports = (loadInstalled(join(root, place))?.fields.imports ?? []).map(withoutRange);
  const path = `${place}/${SKILL_FILE}`;
  return imports
    .filter((other) => removed.has(other))
    .map((other) => libraryDiagnostic('lock.imported', `${id} imports ${other}, which is removed.`, { path }));
}
