import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import { libraryDiagnostic } from '../../contracts/errors/library-diagnostic.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { Call, SkillStore, StoreItem } from '../../contracts/skills/store.ts';
import { expectManyTexts } from '../../skills/parse/yaml/lazy-yaml.ts';
import { releaseView } from '../stores/cache/tree-cache.ts';
import { eachAtOnce } from '../../protocol/each-at-once.ts';
import type { HeadIndex } from './head-index.ts';
import { type HeadParts, headParts, type HeadRecord, readHead } from './head-record.ts';
import type { KeptList, KeptLists } from './kept-lists.ts';
import { textsOfView } from './texts-of-view.ts';

/** Concurrent requests for heads. */
const AT_ONCE = 16;
/** From this number of skills on, loading the fast build of the YAML package pays off. */
const MANY = 500;
/** Attempts to list a store that changes while its skills are read. */
const LOOKS = 5;

/** The state of a store at one look. It never changes. */
export interface StoreState {
  store: SkillStore;
  /** The list of the store; the same object where nothing has changed. */
  items: readonly StoreItem[];
  records: readonly HeadRecord[];
  diagnostics: readonly Diagnostic[];
  listedAt: number;
  /** Reason why the state is outdated; absent where it is current. */
  outage?: string;
}

/** Options of a look. */
export interface StoreLook extends Call {
  index: HeadIndex;
  lists: KeptLists;
  stale: 'refuse' | 'use';
  /** Whether every skill needs its digest, as approvals bind to it. */
  digests: boolean;
}

/**
 * Looks at a store: lists it, and reads the heads of new or changed skills.
 *
 * @param earlier the state from an earlier look
 * @throws SkillcellError `store.unavailable`; `store.changed` where the store keeps changing
 */
export async function lookAtStore(
  store: SkillStore,
  earlier: StoreState | undefined,
  look: StoreLook,
): Promise<StoreState> {
  try {
    for (let looks = 1; ; looks += 1) {
      const { items, diagnostics } = await store.list(look);
      const listedAt = Date.now();
      const same = earlier !== undefined && sameItems(earlier.items, items);
      const list: KeptList = { items: same ? [...earlier.items] : items, diagnostics, listedAt };
      try {
        const state = same && sameText(earlier, diagnostics) ? earlier : await withHeads(store, list, earlier, look);
        const { outage: _outage, ...rest } = state;
        const fresh = state === earlier && state.outage === undefined ? state : { ...rest, listedAt };
        look.lists.keep(store.id, { items: fresh.items as StoreItem[], diagnostics, listedAt });
        return fresh;
      } catch (error) {
        if (!isCode(error, 'store.changed') || looks === LOOKS) throw error;
      }
    }
  } catch (error) {
    if (!isCode(error, 'store.unavailable') || look.stale === 'refuse') throw error;
    return await lastGood(store, earlier, look, error);
  }
}

/** The last known state of a store that is out of reach. */
async function lastGood(
  store: SkillStore,
  earlier: StoreState | undefined,
  look: StoreLook,
  error: SkillcellError,
): Promise<StoreState> {
  if (earlier !== undefined) return { ...earlier, outage: error.message };
  const list = look.lists.find(store.id);
  if (list === undefined) throw error;
  const records: HeadRecord[] = [];
  const diagnostics = [...list.diagnostics];
  for (const item of list.items) {
    const parts = look.index.find(store.id, item);
    if (parts !== undefined) records.push(readHead(store, parts));
    else {
      const message = `The head of the skill is not in the cache, and ${store.id} is out of reach; the skill is not loaded.`;
      diagnostics.push(libraryDiagnostic('store.missing', message, { path: item.path }));
    }
  }
  return { store, ...list, records, diagnostics, outage: error.message };
}

async function withHeads(
  store: SkillStore,
  { items, diagnostics, listedAt }: KeptList,
  earlier: StoreState | undefined,
  look: StoreLook,
): Promise<StoreState> {
  if (items.length >= MANY) expectManyTexts();
  const known = new Map(earlier?.records.map((record) => [record.item.path, record]));
  const found = [...diagnostics];
  const heads = await eachAtOnce(items, AT_ONCE, async (item) => {
    const before = known.get(item.path);
    if (before !== undefined && before.item.revision === item.revision) return before;
    try {
      return await fetchHead(store, item, look);
    } catch (error) {
      // A single unreadable skill is not an outage.
      if (!isCode(error, 'store.unavailable') || error.diagnostics.length === 0) throw error;
      return error.diagnostics;
    }
  });
  const records = heads.flatMap((head) => ('reading' in head ? [head] : []));
  found.push(...heads.flatMap((head) => ('reading' in head ? [] : head)));
  return { store, items, records, diagnostics: found, listedAt };
}

async function fetchHead(store: SkillStore, item: StoreItem, look: StoreLook): Promise<HeadRecord> {
  const kept = look.index.find(store.id, item);
  if (kept !== undefined && (kept.files !== undefined || !look.digests)) return readHead(store, kept);
  const head = kept ?? headParts(await store.head(item, look));
  const parts = head.files === undefined && look.digests ? await withFiles(store, head, look) : head;
  look.index.keep(store.id, parts);
  return readHead(store, parts);
}

/** Adds the digest of every file, for which it fetches the whole skill. Its view is released at once, as no skill uses it yet. */
async function withFiles(store: SkillStore, head: HeadParts, look: StoreLook): Promise<HeadParts> {
  const view = await store.open(head.item, look);
  try {
    const { files } = view;
    if (head.listed !== true) return { ...head, files };
    // With all files at hand, their texts replace the listed ones.
    const { listed: _listed, ...rest } = head;
    return { ...rest, files, texts: textsOfView(view), complete: true };
  } finally {
    releaseView(view);
  }
}

function sameItems(before: readonly StoreItem[], now: readonly StoreItem[]): boolean {
  return (
    before.length === now.length &&
    before.every(({ path, revision }, place) => path === now[place]?.path && revision === now[place].revision)
  );
}

/** Diagnostics of the list are part of the state, so they are compared, too. */
function sameText(earlier: StoreState, diagnostics: readonly Diagnostic[]): boolean {
  const told = earlier.diagnostics.slice(0, diagnostics.length);
  return JSON.stringify(told) === JSON.stringify(diagnostics);
}

function isCode(error: unknown, code: 'store.changed' | 'store.unavailable'): error is SkillcellError {
  return SkillcellError.isInstance(error) && error.code === code;
}
