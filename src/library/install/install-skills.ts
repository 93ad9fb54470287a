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

/** Where skills are installed. */
export interface InstallSkillsOptions {
  /** Path of the lock file. */
  lockFile: string;
  cache: TreeCache;
  /** Hosts and ranges that may be private ones. */
  allowPrivate?: readonly string[] | undefined;
  /** Tokens of private git repositories, by origin. */
  tokens?: ReadonlyMap<string, string> | undefined;
  /** Refuses before anything is written where a skill is not approved. */
  frozen?: boolean | undefined;
  /** Replaces also a folder that is no copy of the skill, or to which files were added. */
  force?: boolean | undefined;
  /** Absolute path of the skills of the package. */
  builtinFolder?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** What became of one locked skill. */
export interface InstalledSkill {
  id: string;
  /** Null for a skill of the package, which brings it. */
  place: string | null;
  /** `left`: somebody has locked other bytes meanwhile, which are not brought back yet. */
  state: 'installed' | 'restored' | 'unchanged' | 'left';
  /** What was there instead. */
  deviations: Deviation[];
}

/**
 * Brings back the locked bytes of every skill, all or none: what is missing is written, and what was changed is replaced and named.
 * A folder that is no copy of the skill is not, nor one to which files were added.
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
          // What somebody locked meanwhile is for him to install.
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
    `Cannot install the skill: this version of the package does not hold what is locked, got ${id}.`,
    {
      hint: `Use the version that does, or \`skillcell skills update ${id}\`.`,
      diagnostics: deviationDiagnostics(deviations),
    },
  );
}

function isMissing({ files }: LockedSkill, deviations: readonly Deviation[]): boolean {
  return deviations.length === files.length && deviations.every(({ state }) => state === 'missing');
}
