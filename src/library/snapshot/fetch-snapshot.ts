import { realpathSync } from 'node:fs';
import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { Skill } from '../../contracts/skills/skill.ts';
import { policyFor } from '../../skills/select/policy.ts';
import { reachableIds } from '../../skills/select/reachable-ids.ts';
import { SkillsSubsystem } from '../../skills/load-subsystem.ts';
import type { Assembled } from './assemble.ts';
import { eachAtOnce } from '../../protocol/each-at-once.ts';
import { type FetchOptions, fetchWhole } from './fetch-whole.ts';
import type { LibraryRoots } from './root-stores.ts';
import { shareWork, type SharedWork } from './share-work.ts';
import type { LibraryRequest } from './skill-library.ts';
import { versionsFor } from './versions-for.ts';

/** Concurrent fetches of skills. */
const AT_ONCE = 8;

/** The skills of one snapshot. */
export interface FetchedSnapshot extends Assembled {
  /** Completely fetched skills, by their heads. */
  whole: Map<Skill, SharedWork<Skill>>;
}

/** Access to stores and cache. */
export interface SnapshotFetch extends Omit<FetchOptions, 'signal'> {
  roots: Pick<LibraryRoots, 'customSkillsRoot' | 'bundleRoot'>;
  /** @throws SkillcellError `store.unavailable` where the library is closed */
  requireOpen(): void;
  /** Is called with all work that starts. */
  started(work: SharedWork<unknown>): void;
}

/**
 * The skills of a snapshot; skills of the request are fetched completely.
 *
 * @throws SkillcellError `store.unavailable`, `store.changed`, `skills.version-unmet`
 */
export async function fetchSnapshot(
  of: FetchedSnapshot,
  request: LibraryRequest,
  fetch: SnapshotFetch,
): Promise<SkillsSubsystem> {
  const { subsystem, sources } = of;
  const chosen = versionsFor(of, request);
  const present = subsystem.skills.map((skill) => chosen.get(skill.id) ?? skill);
  const wanted =
    chosen.size > 0 && request.refs !== undefined ? [...chosen.values()] : wantedSkills(subsystem, request);
  const whole = new Map<Skill, Skill>();
  for (const skill of request.copy === false ? present : []) {
    const here = inPlace(skill, sources);
    if (here !== undefined) whole.set(skill, here);
  }
  const missing = wanted.filter((skill) => !whole.has(skill));
  await eachAtOnce(missing, AT_ONCE, async (skill) => {
    whole.set(skill, await wholeOf(of, skill, request.signal, fetch));
  });
  const heads = present.filter((skill) => sources.has(skill) && !whole.has(skill));
  return new SkillsSubsystem(
    {
      skills: present.map((skill) => whole.get(skill) ?? skill),
      diagnostics: [...subsystem.diagnostics, ...foundInside(whole)],
      agentsConfig: subsystem.agentsConfig,
      overrides: [...subsystem.overrides],
      customNamespaces: [...subsystem.customNamespaces],
      customSkillsRoot: fetch.roots.customSkillsRoot,
      bundleRoot: fetch.roots.bundleRoot,
      admitted: true,
    },
    {
      ids: new Set(heads.map(({ id }) => id)),
      // Together with the earlier references, so that versions go together.
      fetch: ({ refs, ...more }) =>
        fetchSnapshot(of, { ...request, ...more, refs: [...(request.refs ?? []), ...refs] }, fetch),
    },
  );
}

async function wholeOf(
  { sources, whole }: FetchedSnapshot,
  skill: Skill,
  signal: AbortSignal | undefined,
  { requireOpen, started, ...fetch }: SnapshotFetch,
): Promise<Skill> {
  const source = sources.get(skill);
  if (source === undefined) return skill;
  let work = whole.get(skill);
  if (work === undefined) {
    requireOpen();
    const own = shareWork(
      (givenUp) => fetchWhole(skill, source, { ...fetch, signal: givenUp }),
      // The next call tries again.
      () => whole.get(skill) === own && whole.delete(skill),
    );
    work = own;
    whole.set(skill, own);
    started(own);
  }
  return await work.join(signal);
}

/** A skill of a folder, which is read in place. */
function inPlace(skill: Skill, sources: Assembled['sources']): Skill | undefined {
  const record = sources.get(skill)?.record;
  if (record?.complete !== true || record.item.origin.type !== 'directory') return undefined;
  return { ...skill, rootPath: realpathSync.native(record.item.origin.source) };
}

/** Diagnostics that only the complete skill reveals. */
function foundInside(whole: ReadonlyMap<Skill, Skill>): Diagnostic[] {
  return [...whole].flatMap(([head, { diagnostics }]) => diagnostics.slice(head.diagnostics.length));
}

/** Skills to fetch: the closure of the references, or all skills that the consumer may load. */
function wantedSkills(subsystem: SkillsSubsystem, { refs, consumer, includeInternal }: LibraryRequest): Skill[] {
  if (refs !== undefined) return subsystem.importSkillset(refs, { consumer, includeInternal }).skills;
  const byId = new Map(subsystem.skills.map((skill) => [skill.id, skill]));
  const visible = subsystem.visible({ consumer, includeInternal }).map(({ id }) => id);
  const reached = reachableIds(visible, byId, policyFor(subsystem.agentsConfig, consumer));
  return [...reached].flatMap((id) => byId.get(id) ?? []);
}
