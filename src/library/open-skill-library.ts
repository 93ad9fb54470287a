import { resolve } from 'node:path';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import type { Skill } from '../contracts/skills/skill.ts';
import type { Call, SkillStore } from '../contracts/skills/store.ts';
import { bodyTokens } from '../skills/catalog/catalog-entry.ts';
import { defaultCacheFolder } from '../durable/user-folders.ts';
import { openTreeCache } from './stores/cache/tree-cache.ts';
import { assemble, type Assembled } from './snapshot/assemble.ts';
import { eachAtOnce } from '../protocol/each-at-once.ts';
import { fetchSnapshot, type FetchedSnapshot } from './snapshot/fetch-snapshot.ts';
import { openHeadIndex } from './heads/head-index.ts';
import { holdViews } from './snapshot/held-views.ts';
import { openKeptLists } from './heads/kept-lists.ts';
import { checkLibraryOptions, checkListener, checkRequest } from './library-options.ts';
import { lookAtStore, type StoreLook, type StoreState } from './heads/look-at-store.ts';
import { openRoots } from './snapshot/root-stores.ts';
import { shareWork, type SharedWork } from './snapshot/share-work.ts';
import type { GateVerdict, LibraryHead, SkillLibrary, SkillLibraryOptions } from './snapshot/skill-library.ts';
import { LOCK_FILE } from './lock/format/lock-format.ts';
import { openFrozen } from './lock/open-frozen.ts';
import { watchStores } from './watch-stores.ts';

/** Attempts to fetch skills that change meanwhile. */
const LOOKS = 5;

/** A snapshot of all stores. */
interface Snapshot extends FetchedSnapshot {
  states: readonly StoreState[];
  /** Digest of the lock file, where only approved skills are loaded. */
  locked: string | undefined;
  verdict: GateVerdict | undefined;
}

/**
 * Opens a library: lists every store, and reads the heads of its skills.
 *
 * @throws SkillcellError `options.invalid`
 * @throws SkillcellError `store.unavailable` where a store is out of reach and `stale` is `refuse`
 * @throws SkillcellError `skills.descriptor-invalid` for an invalid descriptor
 * @throws SkillcellError `lock.invalid` where `frozen` finds no lock file, or an invalid one
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
    lists: openKeptLists(cache),
    stale,
    digests: admit !== undefined || frozen,
  };
  const views = holdViews();
  const listeners = new Set<() => void>();
  let snapshot: Snapshot | undefined;
  let failure: unknown;
  let looking: SharedWork<boolean> | undefined;
  const running = new Set<SharedWork<unknown>>();
  let watching: Disposable | undefined;
  let closing: Promise<void> | undefined;

  /** Looks at all stores. An aborted look changes nothing, as another one may be in progress. */
  const lookNow = async (signal: AbortSignal): Promise<boolean> => {
    try {
      const states = await lookAtStores(stores, snapshot?.states, { ...look, signal });
      const locked = frozen ? await openFrozen(lockFile, { signal }) : undefined;
      signal.throwIfAborted();
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
      if (changed && earlier !== undefined) for (const listener of [...listeners]) tell(listener);
      return changed;
    } catch (error) {
      if (!signal.aborted) failure = error;
      throw error;
    }
  };

  const started = (work: SharedWork<unknown>): void => {
    running.add(work);
    void work.ended.then(() => running.delete(work));
  };

  /** Runs one look at a time; concurrent callers share it, and wait for no further one. */
  const refresh = async ({ signal }: Call = {}): Promise<boolean> => {
    requireOpen();
    signal?.throwIfAborted();
    if (looking === undefined) {
      const own = shareWork(lookNow, () => forget());
      const forget = (): void => {
        if (looking === own) looking = undefined;
      };
      looking = own;
      started(own);
      void own.ended.then(forget);
    }
    return await looking.join(signal);
  };

  const requireOpen = (): void => {
    if (closing === undefined) return;
    throw new SkillcellError('store.unavailable', 'Cannot read skills: the library is closed.');
  };

  /** The present snapshot. After a failed look, callers get no snapshot until a look succeeds. */
  const present = async (call: Call): Promise<Snapshot> => {
    requireOpen();
    if (failure !== undefined) await refresh(call);
    return snapshot as Snapshot;
  };

  const fetch = { cache, index: look.index, views, roots, requireOpen, started };

  const library: SkillLibrary = {
    async heads(who = {}) {
      checkRequest(who);
      const { consumer, includeInternal, signal } = who;
      const { subsystem, sources } = await present({ signal });
      return subsystem.visible({ consumer, includeInternal }).map((skill) => headOf(skill, sources));
    },
    async search(text, { signal, ...options } = {}) {
      const { subsystem } = await present({ signal });
      const { searchSkills } = await import('./search/search-skills.ts');
      return await searchSkills(subsystem, text, { ...options, signal, cacheFolder: cacheDir });
    },
    async explain(ref, request = {}) {
      checkRequest({ ...request, refs: [ref] });
      const { signal, ...who } = request;
      const of = await present({ signal });
      const { explainInLibrary } = await import('./explain-in-library.ts');
      return explainInLibrary(of, ref, who, lockFile);
    },
    async subsystem(request = {}) {
      checkRequest(request);
      for (let looks = 1; ; looks += 1) {
        const of = await present(request);
        try {
          return await fetchSnapshot(of, request, fetch);
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
      checkListener(listener);
      // Subscribing the same function twice makes two subscriptions.
      const own = (): void => listener();
      listeners.add(own);
      // The error of a failed look goes to the next caller.
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
    // Work in progress keeps its stores until it ends.
    await Promise.all([...running].map(({ ended }) => ended));
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

/** An error of a listener must not fail the look or skip other listeners. It becomes uncaught, like an error of an event listener. */
function tell(listener: () => void): void {
  try {
    listener();
  } catch (error) {
    process.nextTick(() => {
      throw error;
    });
  }
}

/** Looks at all stores concurrently. The first failure rejects, and aborts the other looks. */
async function lookAtStores(
  stores: readonly SkillStore[],
  earlier: readonly StoreState[] | undefined,
  look: StoreLook & { signal: AbortSignal },
): Promise<StoreState[]> {
  const failed = new AbortController();
  const signal = AbortSignal.any([look.signal, failed.signal]);
  return await eachAtOnce([...stores.entries()], stores.length, async ([place, store]) => {
    try {
      return await lookAtStore(store, earlier?.[place], { ...look, signal });
    } catch (error) {
      failed.abort(error);
      throw error;
    }
  });
}

function isOther(now: StoreState, before: StoreState | undefined): boolean {
  return now.records !== before?.records || now.diagnostics !== before.diagnostics || now.outage !== before.outage;
}

function isOtherVerdict(now: GateVerdict | undefined, before: GateVerdict | undefined): boolean {
  const told = (verdict: GateVerdict | undefined): string =>
    JSON.stringify([[...(verdict?.closed ?? [])].map(([{ id }, why]) => [id, why]), verdict?.diagnostics]);
  return told(now) !== told(before);
}

function headOf(skill: Skill, sources: Assembled['sources']): LibraryHead {
  const { id, name, brief, fields, rootKind: kind, files } = skill;
  const record = sources.get(skill)?.record;
  const digest = record === undefined ? skill.digest : record.digest;
  return {
    id,
    name,
    brief,
    fields,
    kind,
    tokens: bodyTokens(skill),
    ...(digest === undefined ? {} : { digest }),
    files: files.map(({ path, bytes }) => ({ path, bytes })),
    ...(record === undefined ? {} : { origin: record.item.origin, revision: record.item.revision }),
  };
}
