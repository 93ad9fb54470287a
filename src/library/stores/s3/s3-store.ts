import * as z from 'zod/mini';
import type { Diagnostic } from '../../../contracts/errors/diagnostic.ts';
import { quotedText } from '../../../contracts/text/quoted-text.ts';
import type { RootKind, SkillTree } from '../../../contracts/skills/skill.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import type { Call, SkillHead, SkillStore, SkillView, StoreItem } from '../../../contracts/skills/store.ts';
import { eachAtOnce } from '../../../protocol/each-at-once.ts';
import { SKILL_BYTES } from '../../../skills/load/read-manifest.ts';
import { TOOLS_FILE } from '../../../skills/load/read-skill-parts.ts';
import { TEXT_FILE_LIMIT } from '../../../skills/text/decode-text.ts';
import { digestOf } from '../../../skills/text/digest.ts';
import { checkStoreOptions } from '../cache/check-store-options.ts';
import type { TreeCache } from '../cache/tree-cache.ts';
import { groupSkills } from './group-skills.ts';
import { checkedKey, checkedPrefix } from './key-fault.ts';
import { listPrefix, PREFIX_LIMITS } from './list-prefix.ts';
import { type ObjectIndex, openObjectIndex } from './object-index.ts';
import { deleteSkill, putSkill, type SkillFolder } from './put-skill.ts';
import { type ListedObject, openS3Access, REQUESTS_AT_ONCE, type S3Access } from './s3-access.ts';
import { unavailable } from './s3-failure.ts';
import { CONNECTION_SHAPE, type S3Connection } from './s3-options.ts';
import { skillState, type SkillState, type StateFile } from './skill-state.ts';

/** A prefix of a bucket, with skills below it. */
export interface S3StoreOptions extends S3Connection {
  /** Prefix of the skills, such as `u1/skills/`; with or without the separator at its end. Empty for a whole bucket. */
  prefix: string;
  kind: RootKind;
  cache: TreeCache;
  /** Limits of keys and pages to read. */
  limits?: { keys: number; pages: number } | undefined;
}

/** A store that can be written to. */
export type WritableStore = SkillStore & Required<Pick<SkillStore, 'put' | 'delete'>>;

/** Attempts to read a skill that is being written. */
const LOOKS = 8;

/** The part of a state that reads need. The rest is dropped, because the store keeps one for each listed skill. */
type ListedSkill = Pick<SkillState, 'revision' | 'files' | 'skillFile'>;

function listedSkill({ revision, files, skillFile }: SkillState): ListedSkill {
  return { revision, files, skillFile };
}

/**
 * Reads and writes skills below a prefix of a bucket. Nothing is loaded or requested before the first call.
 *
 * @throws SkillcellError `store.key-invalid` for an invalid prefix; `options.invalid`
 * @example
 * ```ts
 * import { createS3Store, openTreeCache } from 'skillcell/stores';
 *
 * const store = createS3Store({ bucket: 'team', prefix: 'u1/skills', kind: 'user', cache: openTreeCache('cache') });
 * console.log(store.id);
 * // prints: s3://team/u1/skills/
 * ```
 */
export function createS3Store(options: S3StoreOptions): WritableStore {
  checkStoreOptions({ ...CONNECTION_SHAPE, prefix: z.string(), limits: z.optional(z.unknown()) }, options);
  const { prefix: given, kind, cache, limits, ...connection } = options;
  const prefix = checkedPrefix(given);
  return storeOf({ access: openS3Access(connection), prefix, kind, cache, limits });
}

/** A store on requests that it shares with others. */
export function storeOf({
  access,
  prefix,
  kind,
  cache,
  limits = PREFIX_LIMITS,
  takeOverMs,
}: {
  access: S3Access;
  prefix: string;
  kind: RootKind;
  cache: TreeCache;
  limits?: { keys: number; pages: number } | undefined;
  takeOverMs?: SkillFolder['takeOverMs'];
}): WritableStore {
  const source = `${access.address}${prefix}`;
  const listed = new Map<string, ListedSkill>();
  let index: Promise<ObjectIndex> | undefined;
  const openIndex = (): Promise<ObjectIndex> => (index ??= openObjectIndex(cache, source));
  const keyOf = (path: string): string => (path === '.' ? prefix : `${prefix}${path}/`);

  /** Reads a small object, from the cache where this version was read before. */
  const readSmall = async (
    object: Pick<ListedObject, 'key' | 'etag' | 'bytes'>,
    signal: AbortSignal | undefined,
  ): Promise<Uint8Array | undefined> => {
    const kept = await openIndex();
    const known = kept.find(object.key, object.etag);
    if (known !== undefined) return known;
    const bytes = await access.read(object, signal);
    if (bytes !== undefined) kept.keep(object.key, object.etag, bytes);
    return bytes;
  };

  const stateFrom = (
    path: string,
    objects: ReadonlyMap<string, ListedObject>,
    signal: AbortSignal | undefined,
  ): Promise<SkillState | undefined> =>
    skillState({
      folder: keyOf(path),
      objects,
      read: (object) => readSmall(object, signal),
      look: (key) => access.look(key, signal),
    });

  /** The present state of a skill. */
  const stateAt: SkillFolder['state'] = async (path, signal) => {
    for (let looks = 0; looks < LOOKS; looks += 1) {
      const { objects } = await listPrefix(access, keyOf(path), { signal, limits });
      const state = await stateFrom(path, objects, signal);
      if (state !== undefined) return state;
    }
    throw unavailable('read a skill', source, 'it changes faster than it can be read');
  };

  const itemOf = (path: string, revision: string): StoreItem => ({
    path,
    revision,
    origin: { type: 's3', source, folder: path },
    kind,
  });

  const folderOf = (path: string): SkillFolder => ({
    access,
    key: keyOf(checkedKey(path, 'write a skill')),
    path,
    state: stateAt,
    takeOverMs,
  });

  /** Reads a skill as it was listed, from the present places of its files while its revision is the same. */
  const reading = async <Result>(
    item: StoreItem,
    signal: AbortSignal | undefined,
    read: (state: ListedSkill) => Promise<Result | undefined>,
  ): Promise<Result> => {
    let state = listed.get(item.path);
    for (let looks = 0; looks < LOOKS; looks += 1) {
      if (state?.revision !== item.revision) state = listedSkill(await stateAt(item.path, signal));
      if (state.revision !== item.revision) break;
      const result = await read(state);
      if (result !== undefined) {
        listed.set(item.path, state);
        return result;
      }
      state = undefined;
    }
    const message = `Cannot read the skill ${quotedText(item.path)}: it changed after it was listed.`;
    throw new SkillcellError('store.changed', message);
  };

  return {
    id: source,
    async list({ signal }: Call = {}) {
      const found = await listPrefix(access, prefix, { signal, limits });
      const diagnostics: Diagnostic[] = [...found.diagnostics];
      const none = new Set<string>();
      const said = new Map<string, Diagnostic[]>();
      const states = new Map<string, ListedSkill>();
      for (;;) {
        const { skills, diagnostics: deep } = groupSkills(found.objects, none);
        const unread = [...skills].filter(([path]) => !states.has(path));
        const cut = found.isCut ? [...skills.keys()].at(-1) : undefined;
        // Unlimited reads would queue, and still be sent after a failure of the first one.
        const read = await eachAtOnce(
          unread,
          REQUESTS_AT_ONCE,
          async ([path, objects]): Promise<[string, ListedSkill | undefined]> => {
            // The rest of this skill is beyond the limit.
            if (path === cut) return [path, undefined];
            const isTorn =
              found.pageEnds.some((end) => `${end}/`.startsWith(`${path}/`)) && changedSince(objects, found.at);
            const state =
              (isTorn ? undefined : await stateFrom(path, objects, signal)) ?? (await stateAt(path, signal));
            if (state.diagnostics.length > 0) said.set(path, state.diagnostics);
            return [path, listedSkill(state)];
          },
        );
        const before = none.size;
        for (const [path, state] of read) {
          if (state?.revision === null) none.add(path);
          else if (state !== undefined) states.set(path, state);
        }
        if (none.size > before) continue;
        diagnostics.push(...deep);
        break;
      }
      listed.clear();
      const items: StoreItem[] = [];
      for (const [path, state] of states) {
        diagnostics.push(...(said.get(path) ?? []));
        listed.set(path, state);
        items.push(itemOf(path, state.revision ?? ''));
      }
      return { items, diagnostics };
    },
    head(item, { signal }: Call = {}) {
      return reading(item, signal, async (state) => {
        const { skillFile } = state;
        if (skillFile === undefined) return undefined;
        const bytes = await textOf(skillFile, signal);
        const toolsFile = state.files.find(({ path }) => path === TOOLS_FILE);
        const tools = toolsFile === undefined ? undefined : await textOf(toolsFile, signal);
        if (bytes === undefined || (toolsFile !== undefined && tools === undefined)) return undefined;
        const names = state.files.map(({ path, bytes: size }) => ({ path, bytes: size }));
        const head: SkillHead = { item, names, skillFile: { path: skillFile.path, bytes } };
        return tools === undefined ? head : { ...head, tools };
      });
    },
    async open(item, { signal }: Call = {}): Promise<SkillView> {
      const kept = await openIndex();
      const digest = kept.findDigest(item.path, item.revision);
      const known = digest === undefined ? undefined : cache.find(digest);
      if (known !== undefined) return known;
      return reading(item, signal, async (state) => {
        const tree = await treeOf(state, item, signal);
        if (tree === undefined) return undefined;
        const view = cache.keep(tree);
        kept.keepDigest(item.path, item.revision, view.digest);
        return view;
      });
    },
    async put(path, tree, { ifRevision, signal }) {
      return itemOf(path, await putSkill(folderOf(path), tree, { ifRevision, signal }));
    },
    async delete(path, { ifRevision, signal }) {
      await deleteSkill(folderOf(path), { ifRevision, signal });
      listed.delete(path);
    },
    async close() {
      access.close();
      await (await index)?.close();
    },
  };

  /** Reads a text file; empty where it is over the limit of texts. */
  async function textOf(file: StateFile, signal: AbortSignal | undefined): Promise<Uint8Array | undefined> {
    return file.bytes > TEXT_FILE_LIMIT ? new Uint8Array() : readSmall(file, signal);
  }

  async function treeOf(
    state: ListedSkill,
    item: StoreItem,
    signal: AbortSignal | undefined,
  ): Promise<SkillTree | undefined> {
    const bytes = state.files.reduce((sum, file) => sum + file.bytes, 0);
    if (bytes > SKILL_BYTES) {
      const message = `Cannot read the skill ${quotedText(item.path)}: its files may have ${SKILL_BYTES} bytes together, got ${bytes}.`;
      throw new SkillcellError('skills.too-large', message);
    }
    const read = await Promise.all(
      state.files.map(async (file): Promise<[StateFile, Uint8Array | undefined]> => [
        file,
        await access.read(file, signal),
      ]),
    );
    const tree: SkillTree = new Map();
    for (const [file, content] of read) {
      if (content === undefined) return undefined;
      if (file.digest !== undefined && digestOf(content) !== file.digest)
        throw unavailable(
          'read a skill',
          source,
          `the service sent other bytes than were written, for ${quotedText(file.path)}`,
        );
      tree.set(file.path, { bytes: content, executable: file.executable });
    }
    return tree;
  }
}

/** Whether an object was written at or after a time, by the clock of the service. */
function changedSince(objects: ReadonlyMap<string, ListedObject>, at: number): boolean {
  return [...objects.values()].some(({ changedAt }) => changedAt >= at);
}
