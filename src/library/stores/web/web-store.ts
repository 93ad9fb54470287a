import type { Agent } from 'undici';
import type { Diagnostic } from '../../../contracts/errors/diagnostic.ts';
import type { RootKind } from '../../../contracts/skills/skill.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { quotedText } from '../../../contracts/text/quoted-text.ts';
import type { Call, SkillStore, SkillView, StoreItem } from '../../../contracts/skills/store.ts';
import { openConnections } from '../../../outgoing/checked-connections.ts';
import type { OutgoingRequest } from '../../../outgoing/checked-fetch.ts';
import type { OutgoingRules } from '../../../outgoing/outgoing-rules.ts';
import { SKILL_FILE } from '../../../skills/load/files/skill-file-name.ts';
import { skillDigest } from '../../../skills/text/digest.ts';
import { checkStoreOptions, OUTGOING_SHAPE } from '../cache/check-store-options.ts';
import { headOfView } from '../cache/head-of-view.ts';
import type { TreeCache } from '../cache/tree-cache.ts';
import { fetchTree } from './fetch-tree.ts';
import type { WebEntry, WebIndexVersion } from './web-entry.ts';
import { outgoingPlace } from '../../../outgoing/outgoing-place.ts';
import { badStatus } from '../../../outgoing/bad-status.ts';
import { fetchBytes } from '../../../outgoing/fetch-bytes.ts';
import { INDEX_BYTES, parseWebIndex, type WebIndex } from './web-index.ts';

const PLACES: readonly [string, WebIndexVersion][] = [
  ['agent-skills', '0.2.0'],
  ['skills', '0.1.0'],
];
const NOT_THERE: ReadonlySet<number> = new Set([404, 410]);

const WELL_KNOWN = /\/\.well-known\/(?:agent-)?skills(?:\/index\.json)?$/;

/** Skills of a web site. */
export interface WebStoreOptions extends OutgoingRules {
  /** `https://host`, or a folder of it that has `.well-known/` below. */
  url: string;
  kind: RootKind;
  cache: TreeCache;
  /** Limit of each request, in ms. @default 30,000 */
  timeoutMs?: number | undefined;
}

/**
 * Reads the skills that a web site lists below `/.well-known/agent-skills/`.
 *
 * @throws SkillcellError `source.refused` for an address that is not allowed; `options.invalid`
 * @example
 * ```ts
 * import { createHash } from 'node:crypto';
 * import { once } from 'node:events';
 * import { createServer } from 'node:http';
 * import type { AddressInfo } from 'node:net';
 * import { createWebStore, openTreeCache } from 'skillcell/stores';
 *
 * const text = '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n';
 * const digest = `sha256:${createHash('sha256').update(text).digest('hex')}`;
 * const units = { name: 'units', type: 'skill-md', description: 'Units in reports.', url: 'units/SKILL.md', digest };
 * const index = { $schema: 'https://schemas.agentskills.io/discovery/0.2.0/schema.json', skills: [units] };
 * const server = createServer(({ url }, response) => {
 *   if (url?.endsWith('.md')) response.end(text);
 *   else response.setHeader('content-type', 'application/json').end(JSON.stringify(index));
 * });
 * await once(server.listen(0, '127.0.0.1'), 'listening');
 * const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
 * // A private address has to be named here.
 * const store = createWebStore({ url: `http://${host}`, allowPrivate: [host], kind: 'user', cache: openTreeCache('cache') });
 * const { items } = await store.list();
 * for (const item of items) console.log(item.path, (await store.open(item)).files.map(({ path }) => path));
 * // prints: units [ 'SKILL.md' ]
 * await store.close();
 * server.close();
 * ```
 */
export function createWebStore(options: WebStoreOptions): SkillStore {
  checkStoreOptions(OUTGOING_SHAPE, options);
  const { url, kind, cache, timeoutMs, ...rules } = options;
  const place = webPlace(url);
  const entries = new Map<string, WebEntry>();
  /** Digests of skills and diagnostics about left-out files, by the revisions of their items. */
  const fetched = new Map<string, { digest: string; diagnostics: Diagnostic[] }>();
  let opening: Promise<Agent> | undefined;

  const requestOf = async ({ signal }: Call): Promise<OutgoingRequest> => {
    signal?.throwIfAborted();
    opening ??= openConnections(rules);
    return { ...rules, timeoutMs, signal, connections: await opening };
  };

  const fetchView = async (entry: WebEntry, request: OutgoingRequest): Promise<SkillView> => {
    const { tree, diagnostics } = await fetchTree(entry, request);
    const view = cache.keep(tree);
    const { digest } = view;
    fetched.set(entry.digest ?? digest, { digest, diagnostics: diagnostics.map((each) => inEntry(each, entry)) });
    return view;
  };

  const list = async (call: Call): Promise<{ items: StoreItem[]; diagnostics: Diagnostic[] }> => {
    const request = await requestOf(call);
    const index = await fetchIndex(place, request);
    const items: StoreItem[] = [];
    for (const entry of index.entries) {
      // Without a listed digest, only the bytes show whether the skill is the same.
      const revision = entry.digest ?? (await fetchView(entry, request)).digest;
      const origin = { type: 'web', source: place, folder: entry.name } as const;
      items.push({ path: entry.name, revision, origin, kind });
    }
    entries.clear();
    for (const entry of index.entries) entries.set(entry.name, entry);
    // Files that an archive leaves out are known only after its fetch.
    const leftOut = items.flatMap(({ revision }) => fetched.get(revision)?.diagnostics ?? []);
    return { items, diagnostics: [...index.diagnostics, ...leftOut] };
  };

  const open = async (item: StoreItem, call: Call): Promise<SkillView> => {
    const request = await requestOf(call);
    let entry = entries.get(item.path);
    if (!isOf(item, entry)) {
      await list(call);
      entry = entries.get(item.path);
    }
    if (entry === undefined || !isOf(item, entry)) throw changed(item);
    const view = cachedView(item, entry) ?? (await fetchView(entry, request));
    if (entry.digest === undefined && view.digest !== item.revision) throw changed(item);
    return view;
  };

  const cachedView = ({ revision }: StoreItem, { type }: WebEntry): SkillView | undefined => {
    const digest =
      type === 'skill-md'
        ? skillDigest([{ path: SKILL_FILE, digest: revision, executable: false }])
        : (fetched.get(revision)?.digest ?? (type === 'files' ? revision : undefined));
    return digest === undefined ? undefined : cache.find(digest);
  };

  return {
    id: `web:${place}`,
    list: async (call = {}) => await list(call),
    open: async (item, call = {}) => await open(item, call),
    async head(item, call = {}) {
      const head = headOfView(item, await open(item, call));
      if (head === undefined) throw changed(item);
      return head;
    },
    async close() {
      const last = opening;
      opening = undefined;
      // A failed opening has nothing to close; the call that needed it reported the error.
      await (await last?.catch(() => undefined))?.destroy();
    },
  };
}

function inEntry({ path, ...diagnostic }: Diagnostic, { name }: WebEntry): Diagnostic {
  return { ...diagnostic, path: path === undefined ? name : `${name}/${path}` };
}

/** Whether an entry can be the source of an item. */
function isOf({ revision }: StoreItem, entry: WebEntry | undefined): boolean {
  return entry !== undefined && (entry.digest ?? revision) === revision;
}

function changed({ path }: StoreItem): SkillcellError {
  return new SkillcellError(
    'store.changed',
    `Cannot read the skill ${quotedText(path)}: it changed after it was listed.`,
  );
}

/**
 * The place of a web site: its address before `/.well-known/`, without a slash at its end.
 *
 * @throws SkillcellError `source.refused`
 */
function webPlace(text: string): string {
  return outgoingPlace(text).replace(WELL_KNOWN, '');
}

/**
 * Fetches the list of skills of a web site: of the present version, or else of the older one.
 *
 * @throws SkillcellError `store.unavailable` for a site without a list, or without an answer; `source.refused`
 */
async function fetchIndex(place: string, request: OutgoingRequest): Promise<WebIndex> {
  for (const [folder, version] of PLACES) {
    const url = `${place}/.well-known/${folder}/index.json`;
    const found = await fetchBytes(url, { ...request, maxBytes: INDEX_BYTES, types: ['application/json'] });
    if (found.bytes !== undefined) return parseWebIndex(found.bytes, version, found.url);
    if (!NOT_THERE.has(found.status)) throw badStatus(found);
  }
  throw new SkillcellError(
    'store.unavailable',
    `Cannot read the list of skills of ${place}: it is missing below /.well-known/agent-skills/ and /.well-known/skills/.`,
  );
}
