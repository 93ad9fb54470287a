import { resolve } from 'node:path';
import { realpathSync } from 'node:fs';
import type { Diagnostic } from '../contracts/diagnostic.ts';
import { SkillcellError } from '../contracts/skillcell-error.ts';
import type { Skill } from '../contracts/skill.ts';
import type { Call } from '../contracts/store.ts';
import '../skills/match-on-host.ts';
import { offerQuickYaml } from '../skills/parse/lazy-yaml.ts';
import { quickYaml } from '../skills/parse/quick-yaml.ts';
import { bodyTokens } from '../skills/catalog/catalog-entry.ts';
import { policyFor } from '../skills/select/policy.ts';
import { reachableIds } from '../skills/select/reachable-ids.ts';
import type { SkillsSubsystem } from '../skills/load-subsystem.ts';
import { defaultCacheFolder } from '../durable/user-folders.ts';
import { openTreeCache } from '../stores/cache/tree-cache.ts';
import { assemble, type Assembled } from './assemble.ts';
import { eachAtOnce } from './each-at-once.ts';
import { fetchWhole } from './fetch-whole.ts';
import { openHeadIndex } from './head-index.ts';
import { holdViews } from './held-views.ts';
import { openKeptLists } from './kept-lists.ts';
import { checkLibraryOptions } from './library-options.ts';
import { LibrarySubsystem } from './library-subsystem.ts';
import { lookAtStore, type StoreState } from './look-at-store.ts';
import { openRoots } from './root-stores.ts';
import type { GateVerdict, LibraryHead, LibraryRequest, SkillLibrary, SkillLibraryOptions } from './skill-library.ts';
import { LOCK_FILE } from './lock/lock-format.ts';
import { openFrozen } from './lock/open-frozen.ts';
import { versionsFor } from './versions-for.ts';
import { watchStores } from './watch-stores.ts';

offerQuickYaml(quickYaml);

/** Skills that are fetched at once. */
const AT_ONCE = 8;
/** How often skills are looked for anew because they changed while they were fetched. */
const LOOKS = 5;

/** A snapshot of all stores. */
interface Snapshot extends Assembled {
  states: readonly StoreState[];
  /** Digest of the lock file, where only what it approves is loaded. */
  locked: string | undefined;
  verdict: GateVerdict | undefined;
  /** Skills that were fetched whole, by what their heads told. */
  whole: Map<Skill, Promise<Skill>>;
}

/**
 * Opens a library: looks at every store, and reads the heads of its skills.
 *
 * @throws SkillcellError `options.invalid`
 * @throws SkillcellError `store.unavailable` where a store is out of reach and `stale` is `refuse`
 * @throws SkillcellError `skills.descriptor-invalid` for a descriptor that isn't accepted
 * @throws SkillcellError `lock.invalid` where `frozen` finds no lock file, or none that holds
 * @example
 * ```ts
 * import { mkdirSync, writeFileSync } from 'node:fs';
 * import { createDirectoryStore, openSkillLibrary, openTreeCache } from 'skillcell';
 *
 * mkdirSync('skills/units', { recursive: true });
 * writeFileSync('skills/units/SKILL.md', '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n');
 * const stores = [createDirectoryStore({ path: 'skills', kind: 'user', cache: openTreeCache('cache') })];
 * await using library = await openSkillLibrary({ stores, cacheDir: 'cache' });
 * console.log((await library.heads()).map(({ id }) => id));
 * // prints: [ 'custom.units' ]
 * ```
 */
export async function openSkillLibrary(options: SkillLibraryOptions): Promise<SkillLibrary> {
  checkLibraryOptions(options);
  const { cacheDir = defaultCacheFolder(), stale = 'refuse', admit, lookIntervalMs = 30_000 } = options;
  const { gate, frozen = false, lockFile = resolve(LOCK_FILE) } = options;
  const cache = openTreeCache(cacheDir);
  const roots = openRoots(options, cache);
  const stores = [...roots.paths.keys(), ...options.stores];
  const look = {
    index: openHeadIndex(cache),
    lists: openKeptLists(cacheDir),
    stale,
    digests: admit !== undefined || frozen,
  };
  const views = holdViews();
  const listeners = new Set<() => void>();
  let snapshot: Snapshot | undefined;
  let failure: unknown;
  let looking: Promise<boolean> | undefined;
  let watching: Disposable | undefined;
  let closing: Promise<void> | undefined;

  const lookNow = async (call: Call): Promise<boolean> => {
    try {
      const states = await Promise.all(
        stores.map((store, place) => lookAtStore(store, snapshot?.states[place], { ...look, ...call })),
      );
      const locked = frozen ? await openFrozen(lockFile, call) : undefined;
      const verdict = gate?.(states);
      const earlier = snapshot;
      const changed =
        earlier === undefined ||
        earlier.locked !== locked?.digest ||
        isOtherVerdict(verdict, earlier.verdict) ||
        states.some((state, place) => isOther(state, earlier.states[place]));
      if (changed) {
        snapshot = {
          states,
          locked: locked?.digest,
          verdict,
          whole: new Map(),
          ...assemble(states, { roots, admit, frozen: locked?.admit, verdict }),
        };
      }
      failure = undefined;
      if (changed && earlier !== undefined) for (const listener of [...listeners]) listener();
      return changed;
    } catch (error) {
      failure = error;
      throw error;
    }
  };

  /** One look at a time; whoever asks during one waits for it, and for no other. */
  const refresh = async (call: Call = {}): Promise<boolean> => {
    requireOpen();
    looking ??= lookNow(call).finally(() => (looking = undefined));
    return await looking;
  };

  const requireOpen = (): void => {
    if (closing === undefined) return;
    throw new SkillcellError('store.unavailable', 'Cannot read skills: the library is closed.');
  };

  /** The present snapshot. After a look that failed nothing is given before one that succeeds. */
  const present = async (call: Call): Promise<Snapshot> => {
    requireOpen();
    if (failure !== undefined || snapshot === undefined) await refresh(call);
    return snapshot as Snapshot;
  };

  const wholeOf = async (of: Snapshot, skill: Skill, call: Call): Promise<Skill> => {
    const source = of.sources.get(skill);
    if (source === undefined) return skill;
    const known = of.whole.get(skill);
    if (known !== undefined) return await known;
    const fetched = fetchWhole(skill, source, { cache, index: look.index, views, ...call });
    of.whole.set(skill, fetched);
    // The next one tries anew.
    fetched.catch(() => of.whole.delete(skill));
    return await fetched;
  };

  const fetchFor = async (of: Snapshot, request: LibraryRequest): Promise<SkillsSubsystem> => {
    const { subsystem, sources } = of;
    const chosen = versionsFor(of, request);
    const present = subsystem.skills.map((skill) => chosen.get(skill.id) ?? skill);
    const wanted =
      chosen.size > 0 && request.refs !== undefined ? [...chosen.values()] : wantedSkills(subsystem, request);
    const { signal } = request;
    const whole = new Map<Skill, Skill>();
    for (const skill of request.copy === false ? present : []) {
      const here = inPlace(skill, sources);
      if (here !== undefined) whole.set(skill, here);
    }
    const missing = wanted.filter((skill) => !whole.has(skill));
    await eachAtOnce(missing, AT_ONCE, async (skill) => {
      whole.set(skill, await wholeOf(of, skill, { signal }));
    });
    const heads = present.filter((skill) => sources.has(skill) && !whole.has(skill));
    const { diagnostics, agentsConfig, overrides, customNamespaces } = subsystem;
    const { customSkillsRoot, bundleRoot } = roots;
    const skills = present.map((skill) => whole.get(skill) ?? skill);
    return new LibrarySubsystem(
      {
        ...{ skills, agentsConfig, customSkillsRoot, bundleRoot },
        ...{ overrides: [...overrides], customNamespaces: [...customNamespaces] },
        diagnostics: [...diagnostics, ...foundInside(whole)],
      },
      new Set(heads.map(({ id }) => id)),
      // With what was asked for before, so that versions go together.
      async ({ refs, ...more }) =>
        await fetchFor(of, { ...request, ...more, refs: [...(request.refs ?? []), ...refs] }),
    );
  };

  const library: SkillLibrary = {
    async heads({ consumer, includeInternal, signal } = {}) {
      const { subsystem, sources } = await present({ signal });
      return subsystem.visible({ consumer, includeInternal }).map((skill) => headOf(skill, sources));
    },
    async search(text, { signal, ...options } = {}) {
      const { subsystem } = await present({ signal });
      const { searchSkills } = await import('./search/search-skills.ts');
      return await searchSkills(subsystem, text, { ...options, signal, cacheFolder: cacheDir });
    },
    async explain(ref, { signal, ...who } = {}) {
      const of = await present({ signal });
      const { explainInLibrary } = await import('./explain-in-library.ts');
      return explainInLibrary(of, ref, who, lockFile);
    },
    async subsystem(request = {}) {
      for (let looks = 1; ; looks += 1) {
        const of = await present(request);
        try {
          return await fetchFor(of, request);
        } catch (error) {
          if (!SkillcellError.isInstance(error) || error.code !== 'store.changed' || looks === LOOKS) throw error;
          await refresh(request);
        }
      }
    },
    refresh,
    diagnostics: () => snapshot?.subsystem.diagnostics ?? [],
    subscribe(listener) {
      requireOpen();
      // Two who give the same function are two.
      const own = (): void => listener();
      listeners.add(own);
      // What a look finds wrong is told to whoever asks next.
      watching ??= watchStores(stores, lookIntervalMs, () =>
        refresh().then(
          () => undefined,
          () => undefined,
        ),
      );
      return {
        [Symbol.dispose]() {
          listeners.delete(own);
          if (listeners.size > 0) return;
          watching?.[Symbol.dispose]();
          watching = undefined;
        },
      };
    },
    close() {
      watching?.[Symbol.dispose]();
      listeners.clear();
      return (closing ??= closeAll());
    },
    [Symbol.asyncDispose]: () => library.close(),
  };

  const closeAll = async (): Promise<void> => {
    await looking?.catch(() => undefined);
    await Promise.all(stores.map((store) => store.close()));
    views.close();
    cache.close();
  };

  try {
    await refresh();
  } catch (error) {
    await library.close();
    throw error;
  }
  return library;
}

/** A skill of a folder that stays where it is. */
function inPlace(skill: Skill, sources: Assembled['sources']): Skill | undefined {
  const record = sources.get(skill)?.record;
  if (record?.complete !== true || record.item.origin.type !== 'directory') return undefined;
  return { ...skill, rootPath: realpathSync.native(record.item.origin.source) };
}

/** What only a whole skill tells of itself. */
function foundInside(whole: ReadonlyMap<Skill, Skill>): Diagnostic[] {
  return [...whole].flatMap(([head, { diagnostics }]) => diagnostics.slice(head.diagnostics.length));
}

function isOther(now: StoreState, before: StoreState | undefined): boolean {
  return now.records !== before?.records || now.diagnostics !== before.diagnostics || now.outage !== before.outage;
}

function isOtherVerdict(now: GateVerdict | undefined, before: GateVerdict | undefined): boolean {
  const told = (verdict: GateVerdict | undefined): string =>
    JSON.stringify([[...(verdict?.closed ?? [])].map(([{ id }, why]) => [id, why]), verdict?.diagnostics]);
  return told(now) !== told(before);
}

/** What is fetched whole: the closure of references, or all that the consumer may load. */
function wantedSkills(subsystem: SkillsSubsystem, { refs, consumer, includeInternal }: LibraryRequest): Skill[] {
  if (refs !== undefined) return subsystem.importSkillset(refs, { consumer, includeInternal }).skills;
  const byId = new Map(subsystem.skills.map((skill) => [skill.id, skill]));
  const visible = subsystem.visible({ consumer, includeInternal }).map(({ id }) => id);
  const reached = reachableIds(visible, byId, policyFor(subsystem.agentsConfig, consumer));
  return [...reached].flatMap((id) => byId.get(id) ?? []);
}

function headOf(skill: Skill, sources: Assembled['sources']): LibraryHead {
  const { id, name, brief, fields, rootKind: kind, files } = skill;
  const record = sources.get(skill)?.record;
  const digest = record === undefined ? skill.digest : record.digest;
  return {
    ...{ id, name, brief, fields, kind, tokens: bodyTokens(skill) },
    ...(digest === undefined ? {} : { digest }),
    files: files.map(({ path, bytes }) => ({ path, bytes })),
    ...(record === undefined ? {} : { origin: record.item.origin, revision: record.item.revision }),
  };
}
