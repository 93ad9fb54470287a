import type { SkillTree } from '../../contracts/skills/skill.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { TreeCache } from '../stores/cache/tree-cache.ts';
import { changeSkills, recoverSkills, type SkillChange } from '../lock/change-skills.ts';
import { compareLocked, type Deviation } from '../lock/compare-locked.ts';
import { lockPlaces } from '../lock/format/lock-places.ts';
import type { LockedSkill } from '../lock/format/lock-format.ts';
import { readLock } from '../lock/format/read-lock.ts';
import { assertApproved } from '../lock/approval.ts';
import { assertNothingAdded, assertRestorable } from './steps/assert-replaceable.ts';
import { builtinSkills, compareBuiltin } from './steps/builtin-skills.ts';
import { deviationDiagnostics } from './steps/deviation-diagnostics.ts';
import { fetchLocked } from './steps/fetch-locked.ts';

/** Options of an installation. */
export interface InstallSkillsOptions {
  /** Path of the lock file. */
  lockFile: string;
  cache: TreeCache;
  /** Hosts and ranges whose addresses may be private. */
  allowPrivate?: readonly string[] | undefined;
  /** Tokens of private git repositories, by origin. */
  tokens?: ReadonlyMap<string, string> | undefined;
  /** Refuses unapproved skills before anything is written. */
  frozen?: boolean | undefined;
  /** Also replaces a folder that is not a copy of the skill, or that has additional files. */
  force?: boolean | undefined;
  /** Absolute path of the built-in skills. */
  builtinFolder?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** Result for one locked skill. */
export interface InstalledSkill {
  id: string;
  /** Null for a built-in skill, which needs no folder. */
  place: string | null;
  /** `left`: another process has meanwhile locked other bytes, which are not installed yet. */
  state: 'installed' | 'restored' | 'unchanged' | 'left';
  /** Differences that were found before. */
  deviations: Deviation[];
}

/**
 * Restores the locked bytes of every skill, all or none. Missing files are written; changed files are replaced and reported. A folder that is not a
 * copy of the skill, or that has additional files, is refused.
 *
 * @throws SkillcellError `lock.mismatch`, `lock.unapproved`, `lock.invalid`, `store.unavailable`, `store.conflict`
 */
export async function installSkills(options: InstallSkillsOptions): Promise<InstalledSkill[]> {
  const { lockFile, cache, allowPrivate, tokens, frozen = false, force = false, builtinFolder, signal } = options;
  await recoverSkills(lockFile, { signal });
  const lock = readLock(lockFile);
  if (lock === undefined) return [];
  const { folder: lockFolder } = lockPlaces(lockFile);
  const trees = new Map<string, SkillTree>();
  const builtin = builtinSkills(builtinFolder);
  for (const skill of lock.values()) {
    if (frozen) assertApproved(skill);
    if (skill.place === null) assertInPackage(skill, compareBuiltin(skill, builtin));
    if (skill.place === null || compareLocked(lockFolder, skill).length === 0) continue;
    trees.set(skill.digest, await fetchLocked(skill, { cache, lockFolder, allowPrivate, tokens, signal }));
  }
  return await changeSkills(
    lockFile,
    async (now, { folder: root }) => {
      const changes: SkillChange[] = [];
      const result: InstalledSkill[] = [];
      for (const skill of now.values()) {
        const { id, place } = skill;
        const deviations = place === null ? [] : compareLocked(root, skill);
        const tree = trees.get(skill.digest);
        if (place === null || deviations.length === 0) {
          result.push({ id, place, state: 'unchanged', deviations });
          continue;
        }
        if (tree === undefined) {
          // Another process locked it meanwhile; that process installs it.
          result.push({ id, place, state: 'left', deviations });
          continue;
        }
        if (!force) {
          assertRestorable(root, skill, deviations);
          assertNothingAdded(place, deviations);
        }
        changes.push({ id, entry: skill, folder: { place, tree } });
        const state = isMissing(skill, deviations) ? 'installed' : 'restored';
        result.push({ id, place, state, deviations });
      }
      return { changes, result };
    },
    { signal },
  );
}

/** The package has one version of its skills, and no source has others. */
function assertInPackage({ id }: LockedSkill, deviations: readonly Deviation[]): void {
  if (deviations.length === 0) return;
  throw new SkillcellError(
    'lock.mismatch',
    `Cannot install ${id}: this version of the package does not hold the locked bytes.`,
    {
      hint: `Use the version of the package that holds them, or \`skillcell skills update ${id}\`.`,
      diagnostics: deviationDiagnostics(deviations),
    },
  );
}

function isMissing({ files }: LockedSkill, deviations: readonly Deviation[]): boolean {
  return deviations.length === files.length && deviations.every(({ state }) => state === 'missing');
}
