import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { TreeCache } from '../stores/cache/tree-cache.ts';
import { changeSkills } from '../lock/change-skills.ts';
import { compareLocked } from '../lock/compare-locked.ts';
import type { LockedSkill } from '../lock/format/lock-format.ts';
import { lockedByReference } from '../lock/locked-by-reference.ts';
import { builtinSkills, type BuiltinSkills, compareBuiltin } from './steps/builtin-skills.ts';
import { deviationDiagnostics } from './steps/deviation-diagnostics.ts';
import { lockedSkill } from './steps/locked-skill.ts';

/** Options of an approval. */
export interface ApproveSkillsOptions {
  /** Path of the lock file. */
  lockFile: string;
  refs: readonly string[];
  /** Name of the person who approves. */
  as: string;
  /** Absolute path of the built-in skills; an approval also locks them. */
  builtinFolder?: string | undefined;
  /** Approves every built-in skill, beside `refs`. */
  allBuiltin?: boolean | undefined;
  /** Keeps approved built-in skills, for comparison with a later version of the package. */
  cache?: TreeCache | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Records that a person has reviewed skills and allows their use. The approval binds to the locked bytes, and the present bytes must equal them:
 * otherwise it would cover bytes that the person has not seen. A built-in skill is first locked as it is now.
 *
 * @throws SkillcellError `skills.reference-unknown`, `lock.mismatch`, `lock.invalid`, `store.conflict`
 */
export async function approveSkills(options: ApproveSkillsOptions): Promise<LockedSkill[]> {
  const { lockFile, refs, as, builtinFolder, allBuiltin = false, cache, signal } = options;
  const builtin = builtinSkills(builtinFolder);
  const asked = allBuiltin ? [...refs, ...builtin().keys()] : refs;
  return await changeSkills(
    lockFile,
    async (lock, { folder }) => {
      const approved = lockedByReference(lock, asked, () => lockable(builtin)).map((skill): LockedSkill => {
        const { id, place, digest } = skill;
        const rows = place === null ? compareBuiltin(skill, builtin) : compareLocked(folder, skill);
        if (rows.length > 0) throw changed(skill, deviationDiagnostics(rows));
        const found = place === null ? builtin().get(id) : undefined;
        if (found !== undefined) cache?.keep(found.read());
        return { ...skill, approval: { by: as, digest } };
      });
      return { changes: approved.map((entry) => ({ id: entry.id, entry })), result: approved };
    },
    { signal },
  );
}

function lockable(builtin: BuiltinSkills): Map<string, LockedSkill> {
  return new Map([...builtin()].map(([id, found]) => [id, lockedSkill(found, null, undefined)]));
}

function changed({ id, place }: LockedSkill, diagnostics: SkillcellError['diagnostics']): SkillcellError {
  const [holder, hint] =
    place === null
      ? ['this version of the package', `\`skillcell skills update ${id}\` shows the changes and locks them.`]
      : [
          'its folder',
          '`skillcell skills install` restores the locked bytes; `update` and `add` take the present ones of the source.',
        ];
  const message = `Cannot approve ${id}: ${holder} does not hold the locked bytes.`;
  return new SkillcellError('lock.mismatch', message, { hint, diagnostics });
}
