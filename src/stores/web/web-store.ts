import type { Agent } from 'undici';
import type { RootKind, SkillTree } from '../../contracts/skill.ts';
import { SkillcellError } from '../../contracts/skillcell-error.ts';
import type { Call, SkillStore, SkillView, StoreItem } from '../../contracts/store.ts';
import { openConnections } from '../../outgoing/checked-connections.ts';
import type { OutgoingRequest } from '../../outgoing/checked-fetch.ts';
import type { OutgoingRules } from '../../outgoing/outgoing-rules.ts';
import { SKILL_FILE } from '../../skills/load/skill-file-name.ts';
import { skillDigest } from '../../skills/text/digest.ts';
import { headOfTree } from '../cache/head-of-tree.ts';
import { readView } from '../cache/read-view.ts';
import type { TreeCache } from '../cache/tree-cache.ts';
import { fetchIndex } from './fetch-index.ts';
import { fetchTree } from './fetch-tree.ts';
import type { WebEntry } from './web-entry.ts';
import { webPlace } from './web-place.ts';

/** Skills of a web site. */
export interface WebStoreOptions extends OutgoingRules {
  /** `https://host`, or a folder of it that has `.well-known/` below. */
  url: string;
  kind: RootKind;
  cache: TreeCache;
  /** Of each request. @default 30,000 */
  timeoutMs?: number | undefined;
}

/**
 * Reads the skills that a web site lists below `/.well-known/agent-skills/`.
 *
 * @throws SkillcellError `source.refused` for an address that may not be one
 */
export function createWebStore({ url, kind, cache, timeoutMs, ...rules }: WebStoreOptions): SkillStore {
  const place = webPlace(url);
  const entries = new Map<string, WebEntry>();
  /** Digests of skills, by the revision of their items. */
  const digests = new Map<string, string>();
  let opening: Promise<Agent> | undefined;

  const requestOf = async ({ signal }: Call): Promise<OutgoingRequest> => {
    opening ??= openConnections(rules);
    return { ...rules, timeoutMs, signal, connections: await opening };
  };

  const list = async (call: Call): Promise<Awaited<ReturnType<SkillStore['list']>>> => {
    const request = await requestOf(call);
    const index = await fetchIndex(place, request);
    const items: StoreItem[] = [];
    for (const entry of index.entries) items.push(itemOf(entry, await revisionOf(entry, request)));
    entries.clear();
    for (const entry of index.entries) entries.set(entry.name, entry);
    return { items, diagnostics: index.diagnostics };
  };

  const itemOf = ({ name }: WebEntry, revision: string): StoreItem => ({
    path: name,
    revision,
    origin: { type: 'web', source: place, folder: name },
    kind,
  });

  /** Without a digest in the list, only the bytes say whether they are the same. */
  const revisionOf = async (entry: WebEntry, request: OutgoingRequest): Promise<string> => {
    if (entry.digest !== undefined) return entry.digest;
    const { digest } = cache.keep(await fetchTree(entry, request));
    digests.set(digest, digest);
    return digest;
  };

  const open = async (item: StoreItem, call: Call): Promise<SkillView> => {
    const known = cachedView(item);
    if (known !== undefined) return known;
    let entry = entries.get(item.path);
    if (!isOf(item, entry)) {
      await list(call);
      entry = entries.get(item.path);
    }
    if (entry === undefined || !isOf(item, entry)) throw changed(item);
    const view = cache.keep(await treeOf(entry, call));
    if (entry.digest === undefined && view.digest !== item.revision) throw changed(item);
    digests.set(item.revision, view.digest);
    return view;
  };

  const cachedView = ({ path, revision }: StoreItem): SkillView | undefined => {
    const isOneFile = entries.get(path)?.type === 'skill-md';
    const digest = isOneFile
      ? skillDigest([{ path: SKILL_FILE, digest: revision, executable: false }])
      : digests.get(revision);
    return digest === undefined ? undefined : cache.find(digest);
  };

  const treeOf = async (entry: WebEntry, call: Call): Promise<SkillTree> =>
    await fetchTree(entry, await requestOf(call));

  return {
    id: `web:${place}`,
    list: async (call = {}) => await list(call),
    open: async (item, call = {}) => await open(item, call),
    async head(item, call = {}) {
      const view = await open(item, call);
      const head = headOfTree(item, readView(view));
      if (head === undefined) throw changed(item);
      return head;
    },
    async close() {
      const connections = await opening;
      opening = undefined;
      await connections?.destroy();
    },
  };
}

/** Whether an entry may have the bytes of an item. */
function isOf({ revision }: StoreItem, entry: WebEntry | undefined): boolean {
  return entry !== undefined && (entry.digest ?? revision) === revision;
}

function changed({ path }: StoreItem): SkillcellError {
  return new SkillcellError('store.changed', `Cannot read the skill: it changed after it was listed, got ${path}.`);
}
