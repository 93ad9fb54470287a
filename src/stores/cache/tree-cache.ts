import { existsSync, mkdirSync, readdirSync, renameSync, utimesSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { randomBytes } from 'node:crypto';
import type { SkillFile, SkillTree } from '../../contracts/skill.ts';
import type { SkillView } from '../../contracts/store.ts';
import { currentOwner, isDead, ownerName, parseOwnerName } from '../../durable/owner.ts';
import { removeTree } from '../../durable/remove-tree.ts';
import { writeTree } from '../../durable/write-tree.ts';
import { readManifest } from '../../skills/load/read-manifest.ts';
import { digestOf, skillDigest } from '../../skills/text/digest.ts';
import { compareCodePoints } from '../../skills/text/text.ts';
import { awaitUnclaimed, removeDeadClaims } from './claims.ts';
import { type Leases, openLeases } from './leases.ts';
import { type CacheFolders, makeRoom } from './make-room.ts';
import { oweRoom, payRoom } from './owed-room.ts';
import { privateFolder } from './private-folder.ts';

/** Skills by their digests, each in a folder that nobody changes. Processes share it. */
export interface TreeCache {
  readonly folder: string;
  /** Bytes of all that may be kept. */
  readonly maxBytes: number;
  /**
   * The skill of a digest, each byte of which was looked at; undefined where it is not there, or no longer what it was.
   *
   * @example
   * ```ts
   * import { openTreeCache } from 'skillcell';
   *
   * const cache = openTreeCache('cache');
   * const tree = new Map([['SKILL.md', { bytes: Buffer.from('Text.'), executable: false }]]);
   * const { digest } = cache.keep(tree);
   * console.log(cache.find(digest)?.digest === digest);
   * // prints: true
   * ```
   */
  find(digest: string): SkillView | undefined;
  /**
   * Keeps a skill. @throws the system's error
   *
   * @example
   * ```ts
   * import { openTreeCache } from 'skillcell';
   *
   * const cache = openTreeCache('cache');
   * const tree = new Map([['SKILL.md', { bytes: Buffer.from('Text.'), executable: false }]]);
   * console.log(cache.keep(tree).files.map(({ path, bytes }) => `${path} ${bytes}`));
   * // prints: [ 'SKILL.md 5' ]
   * ```
   */
  keep(tree: SkillTree): SkillView;
  /**
   * Tells it of bytes that were kept beside its trees, so that it makes room for them.
   *
   * @example
   * ```ts
   * import { openTreeCache } from 'skillcell';
   *
   * const cache = openTreeCache('cache');
   * const tree = new Map([['SKILL.md', { bytes: Buffer.from('Text.'), executable: false }]]);
   * cache.keep(tree);
   * // An index of 2 MiB was written beside its trees.
   * cache.added(2 * 1024 * 1024);
   * console.log('there is room');
   * // prints: there is room
   * ```
   */
  added(bytes: number): void;
  /**
   * Says that what it gave is no longer needed: only then may it be evicted.
   *
   * @example
   * ```ts
   * import { openTreeCache } from 'skillcell';
   *
   * const cache = openTreeCache('cache');
   * const tree = new Map([['SKILL.md', { bytes: Buffer.from('Text.'), executable: false }]]);
   * const { folder } = cache.keep(tree);
   * // Until here nobody evicts it.
   * cache.close();
   * console.log(folder.startsWith(process.cwd()));
   * // prints: true
   * ```
   */
  close(): void;
}

/** What was read of buckets, in the folder of a cache. */
export const OBJECTS_FILE = 's3-objects.sqlite';

const PART = /^\.(.+)\.part$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** Where the cache is unless it is named. */
export function defaultCacheFolder(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const [base, home] = [env['XDG_CACHE_HOME'], env['HOME']];
  if (base !== undefined && isAbsolute(base)) return join(base, 'skillcell');
  return join(home !== undefined && isAbsolute(home) ? home : homedir(), '.cache', 'skillcell');
}

/** How large a cache may be. */
export interface TreeCacheOptions {
  /** Bytes of all that is kept. What a living process needs stays, also where that is more. @default 1 GiB */
  maxBytes?: number;
}

const DEFAULT_BYTES = 1024 ** 3;

/**
 * Opens a cache, whose folder is made at the first use. Others may not look into it.
 *
 * @example
 * ```ts
 * import { openTreeCache } from 'skillcell';
 *
 * const cache = openTreeCache('cache', { maxBytes: 64 * 1024 * 1024 });
 * const { digest } = cache.keep(new Map([['SKILL.md', { bytes: Buffer.from('Text.'), executable: false }]]));
 * console.log(cache.find(digest)?.files.map(({ path, bytes }) => `${path} ${bytes}`));
 * // prints: [ 'SKILL.md 5' ]
 * cache.close();
 * ```
 */
export function openTreeCache(folder: string, { maxBytes = DEFAULT_BYTES }: TreeCacheOptions = {}): TreeCache {
  let opened: OpenedCache | undefined;
  const open = (): OpenedCache => {
    // Whoever empties a cache takes the folders of those who have it open as well.
    if (opened !== undefined && !existsSync(opened.folders.trees)) cache.close();
    if (opened !== undefined) return opened;
    opened = openFolders(folder);
    const { folders } = opened;
    payRoom(folders.owed, () => {
      removeTornTrees(folders.trees);
      removeDeadClaims(folders.claims);
      makeRoom(folders, maxBytes, discard);
    });
    return opened;
  };
  // Another process may have filled it: the first skill that is kept finds out.
  let added = Number.POSITIVE_INFINITY;
  const isDue = (bytes: number): boolean => added + bytes > maxBytes * LOOK_AFTER;

  const find = (digest: string): SkillView | undefined => {
    const { folders, leases } = open();
    const tree = treeOf(digest);
    // In this order; see `claimTree`.
    leases.hold(tree);
    awaitUnclaimed(folders.claims, tree);
    const place = join(folders.trees, tree);
    const files = filesIn(place);
    if (files === undefined) return undefined;
    if (skillDigest(files) !== digest) {
      discard(place);
      return undefined;
    }
    touch(place);
    return { digest, files, folder: place };
  };

  const cache: TreeCache = {
    folder,
    maxBytes,
    find,
    keep(tree) {
      const files = listFiles(tree);
      const digest = skillDigest(files);
      const known = find(digest);
      if (known !== undefined) return known;
      const { trees, owed } = open().folders;
      const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
      const settle = isDue(bytes) ? oweRoom(owed) : undefined;
      removeTornTrees(trees);
      // Where another process was faster, what it has written is the same.
      writeTree(trees, treeOf(digest), tree, 'kept');
      cache.added(bytes);
      settle?.();
      return { digest, files, folder: join(trees, treeOf(digest)) };
    },
    added(bytes) {
      const isOver = isDue(bytes);
      added += bytes;
      if (!isOver) return;
      const { folders } = open();
      const settle = oweRoom(folders.owed);
      makeRoom(folders, maxBytes, discard);
      settle();
      added = 0;
    },
    close() {
      opened?.leases.close();
      opened = undefined;
    },
  };
  return cache;
}

/** As a share of the bound: how much may come before it is looked at anew how much there is. */
const LOOK_AFTER = 1 / 16;

interface OpenedCache {
  folders: CacheFolders;
  leases: Leases;
}

function openFolders(folder: string): OpenedCache {
  const real = privateFolder(folder);
  const trees = join(real, 'trees');
  mkdirSync(trees, { recursive: true, mode: 0o700 });
  const leases = join(real, 'leases');
  const files = ['index', 'lists'].map((name) => join(real, name));
  const databases = [join(real, OBJECTS_FILE)];
  const [claims, owed] = ['claims', 'owed'].map((name) => join(real, name)) as [string, string];
  return { folders: { trees, leases, claims, owed, files, databases }, leases: openLeases(leases) };
}

function treeOf(digest: string): string {
  if (!DIGEST.test(digest)) throw new TypeError(`no digest of a skill: ${digest}`);
  return digest.slice('sha256:'.length);
}

/** The files of a tree as a manifest has them. */
export function listFiles(tree: SkillTree): SkillFile[] {
  return [...tree]
    .map(([path, { bytes, executable }]) => ({ path, digest: digestOf(bytes), bytes: bytes.length, executable }))
    .toSorted((a, b) => compareCodePoints(a.path, b.path));
}

function filesIn(place: string): readonly SkillFile[] | undefined {
  try {
    return readManifest(place).files;
  } catch {
    // Not there, or not to be read: it is fetched again.
    return undefined;
  }
}

/** Out of the way at once, for whoever looks by digest; then from the disk. */
function discard(place: string): void {
  const aside = join(place, '..', `.${ownerName(currentOwner())}-${randomBytes(8).toString('hex')}.part`);
  try {
    renameSync(place, aside);
  } catch {
    // Another process was faster.
    return;
  }
  removeTree(aside);
}

function removeTornTrees(trees: string): void {
  for (const name of readdirSync(trees)) {
    const owner = parseOwnerName(PART.exec(name)?.[1] ?? '');
    if (owner !== undefined && isDead(owner)) removeTree(join(trees, name));
  }
}

/** What was used last is evicted last. */
function touch(place: string): void {
  try {
    const now = new Date();
    utimesSync(place, now, now);
  } catch {
    // Evicted meanwhile, or another user's.
  }
}
