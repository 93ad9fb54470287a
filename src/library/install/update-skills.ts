import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { TreeCache } from '../stores/cache/tree-cache.ts';
import { changeSkills, recoverSkills, type SkillChange } from '../lock/change-skills.ts';
import { compareLocked, type Deviation } from '../lock/compare-locked.ts';
import type { LockedSkill } from '../lock/format/lock-format.ts';
import { lockPlaces } from '../lock/format/lock-places.ts';
import { lockedByReference } from '../lock/locked-by-reference.ts';
import { readLock } from '../lock/format/read-lock.ts';
import { findInSource, type FoundSkill, type SourceContents } from '../sources/find-in-source.ts';
import { lockedSource } from '../sources/locked-source.ts';
import { assertReplaceable } from './steps/assert-replaceable.ts';
import { builtinSkills } from './steps/builtin-skills.ts';
import { lockedSkill } from './steps/locked-skill.ts';
import { readInstalled } from './steps/read-installed.ts';
import { skillDifference, type SkillDifference } from './steps/skill-difference.ts';

/** Options of an update. */
export interface UpdateSkillsOptions {
  /** Path of the lock file. */
  lockFile: string;
  /** All skills if empty. */
  refs?: readonly string[] | undefined;
  cache: TreeCache;
  /** Absolute path of the built-in skills. */
  builtinFolder?: string | undefined;
  /** Hosts and ranges whose addresses may be private. */
  allowPrivate?: readonly string[] | undefined;
  /** Tokens of private git repositories, by origin. */
  tokens?: ReadonlyMap<string, string> | undefined;
  /** Also replaces folders with local changes. */
  force?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/** The present state of a locked skill in its source. */
export interface SkillUpdate {
  id: string;
  /** `gone`: the source no longer has the skill, or it does not load. */
  state: 'current' | 'changed' | 'gone';
  locked: LockedSkill;
  found?: FoundSkill;
  difference?: SkillDifference;
  /** Local changes in its folder, which only `force` replaces. */
  deviations: Deviation[];
  /** Reasons why it is gone. */
  diagnostics: Diagnostic[];
}

/**
 * Finds updates of locked skills in their sources, without changing anything.
 *
 * @throws SkillcellError `skills.reference-unknown`, `lock.invalid`, `source.refused`, `store.unavailable`
 */
export async function findUpdates(options: UpdateSkillsOptions): Promise<SkillUpdate[]> {
  const { lockFile, refs = [], cache, builtinFolder, allowPrivate, tokens, signal } = options;
  await recoverSkills(lockFile, { signal });
  const lock = readLock(lockFile) ?? new Map<string, LockedSkill>();
  const { folder: lockFolder } = lockPlaces(lockFile);
  const chosen = refs.length === 0 ? [...lock.values()] : lockedByReference(lock, refs);
  const updates: SkillUpdate[] = [];
  const builtin = builtinSkills(builtinFolder);
  const sources = new Map<string, Promise<SourceContents>>();
  for (const locked of chosen) {
    if (locked.place === null) {
      const contents = { skills: [...builtin().values()], refused: [], diagnostics: [] };
      updates.push(await updateOf(locked, contents, lockFolder, cache));
      continue;
    }
    const spec = lockedSource(locked.origin, lockFolder, 'ref');
    const key = JSON.stringify([spec.kind, spec.source, spec.ref]);
    const contents =
      sources.get(key) ?? findInSource(spec, { cache, lockFolder, nested: true, allowPrivate, tokens, signal });
    sources.set(key, contents);
    updates.push(await updateOf(locked, await contents, lockFolder, cache));
  }
  return updates;
}

async function updateOf(
  locked: LockedSkill,
  contents: SourceContents,
  root: string,
  cache: TreeCache,
): Promise<SkillUpdate> {
  const { id, digest, origin } = locked;
  const deviations = locked.place === null ? [] : compareLocked(root, locked);
  const found = contents.skills.find((one) => one.origin.folder === origin.folder && one.skill.id === id);
  if (found === undefined) {
    const about = contents.diagnostics.filter(({ path }) => path?.startsWith(`${origin.folder}/`) === true);
    return { id, state: 'gone', locked, deviations, diagnostics: about };
  }
  if (found.skill.digest === digest) return { id, state: 'current', locked, found, deviations, diagnostics: [] };
  const before = readInstalled(root, locked, cache);
  const difference = await skillDifference(before, { tree: found.read(), skill: found.skill });
  return { id, state: 'changed', locked, found, difference, deviations, diagnostics: [] };
}

/**
 * Applies the updates of {@link findUpdates}, all or none. Changed bytes have no approval.
 *
 * @returns ids of skills that are now locked with other bytes; skills that were meanwhile removed or updated are not among them
 * @throws SkillcellError `lock.mismatch` where a folder has local changes; `lock.invalid`, `store.changed`, `store.conflict`
 */
export async function takeUpdates(updates: readonly SkillUpdate[], options: UpdateSkillsOptions): Promise<string[]> {
  const { lockFile, force = false, signal } = options;
  const arrived = updates.flatMap(({ id, state, found }) =>
    found === undefined ? [] : [{ id, found, tree: state === 'changed' ? found.read() : undefined }],
  );
  return await changeSkills(
    lockFile,
    async (lock, { folder: root }) => {
      const changes = arrived.flatMap(({ id, found, tree }): SkillChange[] => {
        const before = lock.get(id);
        if (before === undefined) return [];
        const { place } = before;
        const entry = lockedSkill(found, place, before);
        if (tree === undefined) return before.digest === entry.digest ? [{ id, entry }] : [];
        if (place === null) return [{ id, entry }];
        if (!force) assertReplaceable({ root, place, id, files: entry.files, locked: before });
        return [{ id, entry, folder: { place, tree } }];
      });
      const taken = changes.filter(({ id, entry }) => entry?.digest !== lock.get(id)?.digest);
      return { changes, result: taken.map(({ id }) => id) };
    },
    { signal },
  );
}
