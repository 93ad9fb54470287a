import * as z from 'zod/mini';
import type { RootKind } from '../../../contracts/skills/skill.ts';
import { quotedText } from '../../../contracts/text/quoted-text.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import type { Call, SkillStore, StoreItem } from '../../../contracts/skills/store.ts';
import { resolveChecked } from '../../../outgoing/resolve-checked.ts';
import { checkStoreOptions } from '../cache/check-store-options.ts';
import type { TreeCache } from '../cache/tree-cache.ts';
import type { FindOptions } from '../contents/find-contents.ts';
import { readSkillHead, readSkillTree } from '../contents/read-skill-tree.ts';
import type { FoundSkill, SourceContents } from '../contents/source-contents.ts';
import { pathInSource } from '../contents/source-path.ts';
import { type GitProtocol, readGitAddress } from './git-address.ts';
import { GIT_LIMITS, type GitLimits } from './git-limits.ts';
import { isCommit, readGitRef } from './git-ref.ts';
import { checkGitToken, type GitToken } from './git-token.ts';
import { askRemote, type GitRemote, type ResolveHost } from './git-remote.ts';
import { openSnapshot, type GitSnapshot } from './git-snapshot.ts';

/** A git repository of skills. */
export interface GitStoreOptions extends FindOptions {
  /** An https address without a credential, or an absolute path. */
  url: string;
  /** A branch, a tag, or the full id of a commit. @default the default branch */
  ref?: string | undefined;
  /** The folder of the repository to read. @default the whole repository */
  folder?: string | undefined;
  kind: RootKind;
  cache: TreeCache;
  /** Protocols that git may use. An absolute path needs none of them. @default ['https'] */
  protocols?: readonly GitProtocol[] | undefined;
  /** Hosts whose addresses may be private. */
  allowPrivate?: readonly string[] | undefined;
  /** File of certificates to trust in place of the system's. */
  caFile?: string | undefined;
  /**
   * Token of a private repository, or a function that returns it for each read. It is sent over https only, and only to the scheme, host and port
   * of the address. No id, origin, message or file holds it.
   */
  token?: GitToken | undefined;
  limits?: Partial<GitLimits> | undefined;
  /** @internal Resolves hosts to addresses that are allowed as targets. */
  resolve?: ResolveHost | undefined;
}

const text = z.string().check(z.minLength(1));
const SHAPE = {
  url: z.string(),
  ref: z.optional(z.string()),
  folder: z.optional(z.string()),
  nested: z.optional(z.boolean()),
  plugin: z.optional(z.unknown()),
  protocols: z.optional(z.array(text)),
  allowPrivate: z.optional(z.array(text)),
  caFile: z.optional(text),
  // Not validated here: an error about the token would contain it.
  token: z.optional(z.unknown()),
  limits: z.optional(z.unknown()),
  resolve: z.optional(z.unknown()),
};

/** A store that also lists the plugins of its marketplaces in other repositories. */
export interface GitStore extends SkillStore {
  /** Contents of the commit that the ref leads to now. @throws SkillcellError `store.unavailable`, `source.refused` */
  contents(call?: Call): Promise<SourceContents & { commit: string }>;
}

/**
 * Reads skills from a git repository, by the `git` of the system and without a work tree. Its content is only listed and read, so no hook, filter,
 * submodule or link of it can act.
 *
 * @throws SkillcellError `source.refused` for an invalid address, ref or folder; `options.invalid`
 * @example
 * ```ts
 * import { execFileSync } from 'node:child_process';
 * import { mkdirSync, writeFileSync } from 'node:fs';
 * import { resolve } from 'node:path';
 * import { createGitStore, openTreeCache } from 'skillcell/stores';
 *
 * mkdirSync('team/units', { recursive: true });
 * writeFileSync('team/units/SKILL.md', '---\nname: units\ndescription: Units in reports.\n---\nGive SI units.\n');
 * const git = (...command: string[]) => execFileSync('git', ['-C', 'team', ...command]);
 * git('init', '--quiet');
 * git('add', '.');
 * git('-c', 'user.name=Ana', '-c', 'user.email=ana@example.test', 'commit', '--quiet', '--message', 'Say how units are given');
 * const store = createGitStore({ url: resolve('team'), kind: 'user', cache: openTreeCache('cache') });
 * const { items } = await store.list();
 * for (const item of items) console.log(item.path, (await store.open(item)).files.map(({ path }) => path));
 * // prints: units [ 'SKILL.md' ]
 * ```
 */
export function createGitStore(options: GitStoreOptions): SkillStore & GitStore {
  checkStoreOptions(SHAPE, options);
  const { ref, kind, cache, nested, plugin } = options;
  const address = readGitAddress(options.url, options.protocols ?? ['https']);
  checkGitToken(options.token, address);
  const asked = readGitRef(ref);
  const folder = readFolder(options.folder);
  const remote: GitRemote = {
    address,
    limits: { ...GIT_LIMITS, ...options.limits },
    allowPrivate: options.allowPrivate ?? [],
    caFile: options.caFile,
    token: options.token,
    resolve: options.resolve ?? resolveChecked,
  };
  const id = `git:${address.url}${ref === undefined ? '' : `#${ref}`}${folder === '.' ? '' : `:${folder}`}`;
  const closing = new AbortController();
  const snapshots = new Map<string, GitSnapshot>();

  const snapshotAt = async (
    at: { commit: string; fetched: string },
    signal: AbortSignal | undefined,
  ): Promise<GitSnapshot> => {
    const known = snapshots.get(at.commit);
    if (known !== undefined) return known;
    const opened = await openSnapshot({ remote, at, folder, cache, find: { nested, plugin }, signal });
    // Two calls may have opened the same commit; one reader is enough.
    const other = snapshots.get(opened.commit);
    if (other !== undefined) {
      opened.close();
      return other;
    }
    // Keeps the last snapshot and this one. An older commit is opened anew on demand; its reader stops when idle.
    for (const [commit, old] of [...snapshots].slice(0, -1)) {
      snapshots.delete(commit);
      old.retire();
    }
    snapshots.set(opened.commit, opened);
    return opened;
  };
  const present = async (call: Call): Promise<GitSnapshot> => {
    const signal = signalOf(call);
    signal.throwIfAborted();
    return await snapshotAt(await askRemote(remote, asked, signal), signal);
  };
  const signalOf = ({ signal }: Call): AbortSignal =>
    signal === undefined ? closing.signal : AbortSignal.any([closing.signal, signal]);

  /** A skill as it was listed. A commit never changes, and the id of a skill's folder in it identifies its bytes. */
  const listed = async (
    item: StoreItem,
    signal: AbortSignal,
  ): Promise<{ snapshot: GitSnapshot; skill: FoundSkill }> => {
    signal.throwIfAborted();
    const { commit = '' } = item.origin;
    const snapshot = isCommit(commit) ? await snapshotAt({ commit, fetched: commit }, signal) : undefined;
    const skill = snapshot?.contents.skills.find((each) => each.folder === item.path);
    if (snapshot === undefined || skill === undefined || snapshot.treeOf(skill.folder) !== item.revision)
      throw new SkillcellError(
        'store.changed',
        `Cannot read the skill ${quotedText(item.path)}: it differs from the list.`,
      );
    return { snapshot, skill };
  };

  return {
    id,
    async contents(call = {}) {
      const { contents, commit } = await present(call);
      return { ...contents, commit };
    },
    async list(call = {}) {
      const snapshot = await present(call);
      const { commit, contents } = snapshot;
      const items = contents.skills.map((skill): StoreItem => ({
        path: skill.folder,
        revision: snapshot.treeOf(skill.folder),
        origin: {
          type: 'git',
          source: address.url,
          folder: below(folder, skill.folder),
          commit,
          ...(ref === undefined ? {} : { ref }),
          ...(skill.plugin === undefined ? {} : { plugin: skill.plugin }),
        },
        kind,
      }));
      return { items, diagnostics: contents.diagnostics };
    },
    async head(item, call = {}) {
      const signal = signalOf(call);
      const { snapshot, skill } = await listed(item, signal);
      return await snapshot.reading(async (files) => await readSkillHead(files, skill, item), signal);
    },
    async open(item, call = {}) {
      const signal = signalOf(call);
      const { snapshot, skill } = await listed(item, signal);
      return cache.keep(await snapshot.reading(async (files) => await readSkillTree(files, skill), signal));
    },
    async close() {
      closing.abort(
        new SkillcellError('store.unavailable', `Cannot read the repository ${address.url}: the store was closed.`),
      );
      for (const snapshot of snapshots.values()) snapshot.close();
      snapshots.clear();
    },
  };
}

function below(folder: string, path: string): string {
  if (folder === '.') return path;
  return path === '.' ? folder : `${folder}/${path}`;
}

function readFolder(given: string | undefined): string {
  const folder = given === undefined ? '.' : pathInSource('.', given);
  if (folder !== undefined) return folder;
  throw new SkillcellError(
    'source.refused',
    `Cannot read the repository: the folder is not a path inside it, got ${quotedText(given ?? '')}.`,
  );
}
