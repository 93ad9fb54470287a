import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { TreeCache } from '../stores/cache/tree-cache.ts';
import { changeSkills } from '../lock/change-skills.ts';
import { compareLocked } from '../lock/compare-locked.ts';
import type { LockedSkill } from '../lock/format/lock-format.ts';
import { lockedByReference } from '../lock/locked-by-reference.ts';
import { builtinSkills, type BuiltinSkills, compareBuiltin } from './steps/builtin-skills.ts';
import { deviationDiagnostics } from './steps/deviation-diagnostics.ts';
import { lockedSkill } from './steps/locked-skill.ts';

/** Who approves what. */
export interface ApproveSkillsOptions {
  /** Path of the lock file. */
  lockFile: string;
  refs: readonly string[];
  /** A name, as people write it. */
  as: string;
  /** Absolute path of the skills of the package, which are locked by their approval. */
  builtinFolder?: string | undefined;
  /** Approves each of them, beside `refs`. */
  allBuiltin?: boolean | undefined;
  /** Keeps what is approved of the package: the next version of it has other bytes, and is compared with these. */
  cache?: TreeCache | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Writes down that somebody has looked at skills and lets them be used. It holds for the locked bytes, which have to be those that are there:
 * else something would be approved that nobody sees. A skill of the package, which nobody has added, is locked with what it is now.
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
  const [what, hint] =
    place === null
      ? ['this version of the package', `\`skillcell skills update ${id}\` says what has changed, and takes it.`]
      : [
          'its folder',
          '`skillcell skills install` brings back what is locked; `update` and `add` take what the source has.',
        ];
  const message = `Cannot approve the skill: ${what} does not hold what is locked, got ${id}.`;
  return new SkillcellError('lock.mismatch', message, { hint, diagnostics });
}
