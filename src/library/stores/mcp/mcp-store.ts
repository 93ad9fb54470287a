import * as z from 'zod/mini';
import { libraryDiagnostic } from '../../../contracts/errors/library-diagnostic.ts';
import type { Diagnostic } from '../../../contracts/errors/diagnostic.ts';
import { quotedText } from '../../../contracts/text/quoted-text.ts';
import type { RootKind, SkillTree } from '../../../contracts/skills/skill.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import type { Call, SkillHead, SkillStore, SkillView, StoreItem } from '../../../contracts/skills/store.ts';
import { outgoingPlace } from '../../../outgoing/outgoing-place.ts';
import type { OutgoingRules } from '../../../outgoing/outgoing-rules.ts';
import { withinDeadline } from '../../../protocol/within-deadline.ts';
import { SKILL_FILE } from '../../../skills/load/files/skill-file-name.ts';
import { digestOf, skillDigest } from '../../../skills/text/digest.ts';
import { checkStoreOptions, OUTGOING_SHAPE } from '../cache/check-store-options.ts';
import type { TreeCache } from '../cache/tree-cache.ts';
import { type ListedSkill, listedSkill } from './listed-skill.ts';
import { connectSkillServer, type SkillServer } from './skill-server.ts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readFrontMatter } from '../../../skills/parse/front-matter.ts';
import { yaml } from '../../../skills/parse/yaml/lazy-yaml.ts';
import { canonicalJson } from '../../../skills/text/canonical-json.ts';
import { decodeText } from '../../../skills/text/decode-text.ts';

/** Fields that distinguish the SDK's errors. Texts of the server are never repeated: they may echo a secret. */
interface SdkFault extends Error {
  code?: string | number;
  status?: number;
  reason?: string;
}

const INVALID_PARAMS = -32_602;

const REASONS: Readonly<Record<string, string>> = {
  unlisted: 'the file is not listed',
  LIST_PAGINATION_EXCEEDED: 'its list has no end',
  frontmatter: 'the frontmatter of SKILL.md differs from the list',
};

/** Skills of an MCP server. */
export interface McpStoreOptions extends OutgoingRules {
  /** Address of the server, for streamable HTTP. */
  url: string;
  kind: RootKind;
  cache: TreeCache;
  /** Headers of each request, such as `authorization`. No message and no name holds them. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Limit of each request, in ms. @default 30,000 */
  timeoutMs?: number | undefined;
}

const MAX_SKILLS = 5_000;

/**
 * Reads the skills of an MCP server by the extension `io.modelcontextprotocol/skills` (SEP-2640). The server and the uri of its SKILL.md identify a
 * skill. Its head comes from the list; its files are read when it is opened.
 *
 * @throws SkillcellError `source.refused` for an address that is not allowed; `options.invalid`
 * @example
 * ```ts
 * import { createMcpStore, openTreeCache } from 'skillcell/stores';
 *
 * const headers = { authorization: 'Bearer …' };
 * const store = createMcpStore({ url: 'https://docs.example.com/mcp', headers, kind: 'user', cache: openTreeCache('cache') });
 * // No request is sent before the first call.
 * console.log(store.id);
 * // prints: mcp:https://docs.example.com/mcp
 * ```
 */
export function createMcpStore(options: McpStoreOptions): SkillStore {
  checkStoreOptions({ ...OUTGOING_SHAPE, headers: z.optional(z.record(z.string(), z.string())) }, options);
  const { url, kind, cache, headers, timeoutMs = 30_000, ...rules } = options;
  const place = outgoingPlace(url);
  const known = new Map<string, ListedSkill>();
  let connecting: Promise<SkillServer> | undefined;

  /** Makes a call. An unknown error counts as an outage. A failed connection is not used again. */
  const ask = async <Result>(
    shown: string,
    { signal }: Call,
    act: (skills: SkillServer['skills'], call: { timeout: number; signal?: AbortSignal }) => Promise<Result>,
  ): Promise<Result> => {
    signal?.throwIfAborted();
    let server: SkillServer | undefined;
    try {
      // Other calls may wait for the same connection: the abort of one call does not end it.
      connecting ??= connect();
      server = await withinDeadline(connecting, { signal });
      if (!server.skills.supported)
        throw new SkillcellError('source.refused', `Cannot read the source ${place}: the server offers no skills.`);
      server.begin();
      return await act(server.skills, { timeout: timeoutMs, ...(signal === undefined ? {} : { signal }) });
    } catch (error) {
      signal?.throwIfAborted();
      const fault = serverFault(error, server, shown);
      if (SkillcellError.isInstance(fault) && fault.code === 'store.unavailable') await disconnect();
      throw fault;
    }
  };

  const connect = async (): Promise<SkillServer> => {
    try {
      return await connectSkillServer({ url, headers, rules, timeoutMs });
    } catch (error) {
      connecting = undefined;
      throw error;
    }
  };

  const disconnect = async (): Promise<void> => {
    const last = connecting;
    connecting = undefined;
    // A failed connection has nothing to close.
    await (await last?.catch(() => undefined))?.close();
  };

  const list = async (call: Call): Promise<{ items: StoreItem[]; diagnostics: Diagnostic[] }> => {
    const { skills, invalid } = await ask(place, call, async (client, options) => await client.list({}, options));
    if (skills.length + invalid.length > MAX_SKILLS)
      throw new SkillcellError(
        'source.refused',
        `Cannot read the source ${place}: it lists more than ${MAX_SKILLS} skills.`,
      );
    const diagnostics = invalid.map(({ index, uri = '' }) =>
      leftOut(`skills/${index}`, `${quotedText(uri)} does not follow the skills extension`),
    );
    const listed = new Map<string, ListedSkill>();
    for (const entry of skills) {
      const skill = listedSkill(entry);
      if (typeof skill === 'string') diagnostics.push(leftOut(entry.uri, skill));
      else if (listed.has(skill.path))
        diagnostics.push(
          libraryDiagnostic('index.duplicate', `A second skill of ${place} has the path ${quotedText(skill.path)}.`, {
            path: skill.uri,
          }),
        );
      else listed.set(skill.path, skill);
    }
    known.clear();
    for (const skill of listed.values()) known.set(skill.uri, skill);
    return { items: [...listed.values()].map(itemOf), diagnostics };
  };

  const leftOut = (path: string, reason: string): Diagnostic =>
    libraryDiagnostic('index.entry', `A skill of ${place} is left out: ${reason}.`, { path });

  const itemOf = ({ path, revision, uri }: ListedSkill): StoreItem => ({
    path,
    revision,
    origin: { type: 'mcp', source: place, folder: uri },
    kind,
  });

  /** The server's entry for an item, by its uri. */
  const skillOf = async (item: StoreItem, call: Call): Promise<ListedSkill> => {
    const uri = item.origin.folder;
    const held = known.get(uri);
    call.signal?.throwIfAborted();
    if (held?.revision === item.revision && held.path === item.path) return held;
    const { skill } = await ask(uri, call, async (client, options) => await client.get(uri, options));
    const listed = listedSkill(skill);
    if (typeof listed === 'string' || listed.revision !== item.revision || listed.path !== item.path)
      throw changed('it changed after it was listed', item.path);
    known.set(uri, listed);
    return listed;
  };

  const read = async ({ entry, uri, files }: ListedSkill, path: string, call: Call): Promise<Uint8Array> => {
    const root = uri.slice(0, -SKILL_FILE.length);
    const file = Array.isArray(entry.resources)
      ? entry.resources.find((resource) => decodeURIComponent(resource.uri.slice(root.length)) === path)
      : undefined;
    const target = file?.uri ?? `${root}${path}`;
    const { bytes } = await ask(target, call, async (client, options) =>
      client.read(entry, target, { ...options, cacheMode: 'bypass' }),
    );
    if (digestOf(bytes) !== files.find((each) => each.path === path)?.digest)
      throw changed('its bytes have another digest than is listed', target);
    return bytes;
  };

  const open = async (item: StoreItem, call: Call): Promise<SkillView> => {
    const skill = await skillOf(item, call);
    const kept = cache.find(skillDigest(skill.files));
    if (kept !== undefined) {
      // The read compares the two, with the parser of the extension.
      if (!hasFrontmatter(kept, skill.entry.frontmatter)) await read(skill, SKILL_FILE, call);
      return kept;
    }
    const tree: SkillTree = new Map();
    for (const { path } of skill.files) tree.set(path, { bytes: await read(skill, path, call), executable: false });
    return cache.keep(tree);
  };

  const head = async (item: StoreItem, call: Call): Promise<SkillHead> => {
    const skill = await skillOf(item, call);
    const skillFile = { path: SKILL_FILE, bytes: frontmatterText(skill.entry.frontmatter) };
    const names = skill.files.map(({ path, bytes }) => ({ path, bytes }));
    // By the extension, no file may be read before its skill is loaded.
    return { item, names, skillFile, listed: true };
  };

  return {
    id: `mcp:${place}`,
    list: async (call = {}) => await list(call),
    head: async (item, call = {}) => await head(item, call),
    open: async (item, call = {}) => await open(item, call),
    close: disconnect,
  };
}

/** The frontmatter of an entry, as the text of a SKILL.md without a body. */
function frontmatterText(frontmatter: object): Uint8Array {
  const block = yaml().stringify(frontmatter, { lineWidth: 0, aliasDuplicateObjects: false });
  return Buffer.from(`---\n${block}---\n`);
}

/** Whether the SKILL.md of a kept skill has the listed frontmatter. Unusual YAML may give a false negative. */
function hasFrontmatter({ folder }: SkillView, frontmatter: object): boolean {
  const decoded = decodeText(readFileSync(join(folder, SKILL_FILE)));
  if ('fault' in decoded) return false;
  const read = readFrontMatter(decoded.text, { recover: false });
  return read.ok && canonicalJson(read.root.toJSON()) === canonicalJson(frontmatter);
}

/**
 * The error of a call to a server.
 *
 * @param shown the skill or the server of the call
 */
function serverFault(error: unknown, server: Pick<SkillServer, 'fault'> | undefined, shown: string): unknown {
  const known = [error, server?.fault()].map(ownError).find((each) => each !== undefined);
  if (known !== undefined) return known;
  const { name, code, status, reason } = error as SdkFault;
  if (reason === 'size' || reason === 'digest') return changed('its bytes have another digest than is listed', shown);
  const refused = REASONS[reason ?? code ?? ''];
  if (refused !== undefined)
    return new SkillcellError('source.refused', `Cannot read the source ${shown}: ${refused}.`);
  if (code === INVALID_PARAMS) return changed('the server has it no longer', shown);
  const said = typeof status === 'number' ? `it answers with the HTTP status ${status}` : words(name, code);
  return new SkillcellError('store.unavailable', `Cannot read the source ${shown}: ${said}.`, { cause: error });
}

/** The error of a skill that differs from its list. */
function changed(reason: string, shown: string): SkillcellError {
  return new SkillcellError('store.changed', `Cannot read the skill ${shown}: ${reason}.`);
}

/** The first SkillcellError in the causes of an SDK error. */
function ownError(error: unknown): SkillcellError | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth += 1)
    if (SkillcellError.isInstance(at)) return at;
  return undefined;
}

function words(name: string, code: string | number | undefined): string {
  if (code === 'REQUEST_TIMEOUT' || name === 'AbortError') return 'it gave no answer in time';
  if (typeof code === 'number') return `it refused the request (${code})`;
  return `its answer does not follow the protocol (${code ?? name})`;
}
