import type { SkillTree } from '../../contracts/skill.ts';
import type { TreeCache } from '../../stores/cache/tree-cache.ts';
import { changeSkills, recoverSkills, type SkillChange } from '../lock/change-skills.ts';
import { compareLocked, type Deviation } from '../lock/compare-locked.ts';
import { lockPlaces } from '../lock/lock-places.ts';
import type { LockedSkill } from '../lock/lock-format.ts';
import { readLock } from '../lock/read-lock.ts';
import { assertApproved } from '../lock/approval.ts';
import { fetchLocked } from './fetch-locked.ts';

/** Where skills are installed. */
export interface InstallSkillsOptions {
  /** Path of the lock file. */
  lockFile: string;
  cache: TreeCache;
  /** Hosts and ranges that may be private ones. */
  allowPrivate?: readonly string[] | undefined;
  /** Refuses before anything is written where a skill is not approved. */
  frozen?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/** What became of one locked skill. */
export interface InstalledSkill {
  id: string;
  place: string;
  state: 'installed' | 'restored' | 'unchanged';
  /** What was there instead. */
  deviations: Deviation[];
}

/**
 * Brings back the locked bytes of every skill, all or none: what is missing is written, and what was changed is replaced and named.
 *
 * @throws SkillcellError `lock.mismatch`, `lock.unapproved`, `lock.invalid`, `store.unavailable`, `store.conflict`
 */
export async function installSkills(options: InstallSkillsOptions): Promise<InstalledSkill[]> {
  const { lockFile, cache, allowPrivate, frozen = false, signal } = options;
  await recoverSkills(lockFile, { signal });
  const lock = readLock(lockFile);
  if (lock === undefined) return [];
  const { folder: lockFolder } = lockPlaces(lockFile);
  const trees = new Map<string, SkillTree>();
  for (const skill of lock.values()) {
    if (frozen) assertApproved(skill);
    if (skill.place === null || compareLocked(lockFolder, skill).length === 0) continue;
    trees.set(skill.digest, await fetchLocked(skill, { cache, lockFolder, allowPrivate, signal }));
  }
  return await changeSkills(
    lockFile,
    async (now, { folder: root }) => {
      const changes: SkillChange[] = [];
      const result: InstalledSkill[] = [];
      for (const skill of now.values()) {
        const { id, place } = skill;
        if (place === null) continue;
        const deviations = compareLocked(root, skill);
        const tree = trees.get(skill.digest);
        // What somebody locked meanwhile is for him to install.
        const isLeft = deviations.length === 0 || tree === undefined;
        if (!isLeft) changes.push({ id, entry: skill, folder: { place, tree } });
        const state = isLeft ? 'unchanged' : isMissing(skill, deviations) ? 'installed' : 'restored';
        result.push({ id, place, state, deviations });
      }
      return { changes, result };
    },
    { signal },
  );
}

function isMissing({ files }: LockedSkill, deviations: readonly Deviation[]): boolean {
  return deviations.length === files.length && deviations.every(({ state }) => state === 'missing');
}
