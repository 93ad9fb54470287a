import { existsSync, mkdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { SkillFile, SkillTree } from '../../../contracts/skills/skill.ts';
import type { SkillView } from '../../../contracts/skills/store.ts';
import { discard, removeTorn } from '../../../durable/durable-file.ts';
import { fileSystemFault } from '../../../durable/file-system-fault.ts';
import { writeTree } from '../../../durable/write-tree.ts';
import { readManifest } from '../../../skills/load/read-manifest.ts';
import { digestOf, skillDigest } from '../../../skills/text/digest.ts';
import { compareCodePoints } from '../../../skills/text/text.ts';
import { checkCacheOptions } from './check-store-options.ts';
import { awaitUnclaimed, removeDeadClaims } from './claims.ts';
import { type Leases, openLeases } from './leases.ts';
import { type CacheFolders, makeRoom } from './make-room.ts';
import { oweRoom, payRoom } from './owed-room.ts';
import { privateFolder } from './private-folder.ts';

/** Skills by their digests, each in a folder that never changes. Processes share it. */
export interface TreeCache {
  readonly folder: string;
  /** Limit of all kept bytes. */
  readonly maxBytes: number;
  /**
   * The skill with a digest, after a check of every byte; undefined where it is missing or damaged.
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
   * Keeps a skill. @throws SkillcellError `path.unusable`, `disk.full`, or the system's error
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
   * Reports bytes that were stored beside the trees, so that the cache makes room for them.
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
   * Releases every view that this cache returned: only then can they be evicted. The cache holds no other resource.
   *
   * @example
   * ```ts
   * import { openTreeCache } from 'skillcell';
   *
   * const cache = openTreeCache('cache');
   * const tree = new Map([['SKILL.md', { bytes: Buffer.from('Text.'), executable: false }]]);
   * const { folder } = cache.keep(tree);
   * // No process evicts it before this call.
   * cache.close();
   * console.log(folder.startsWith(process.cwd()));
   * // prints: true
   * ```
   */
  close(): void;
}

/** Objects read from buckets, in the folder of a cache. */
export const OBJECTS_FILE = 's3-objects.sqlite';

const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** The size of a cache. */
export interface TreeCacheOptions {
  /** Limit of all kept bytes. Entries that a living process needs stay, even over this limit. @default 1 GiB */
  maxBytes?: number;
}

const DEFAULT_BYTES = 1024 ** 3;

/**
 * Opens a cache, whose folder is made at the first use. Other users have no access to it.
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
  checkCacheOptions({ folder, maxBytes });
  let opened: OpenedCache | undefined;
  const open = (): OpenedCache => {
    // Emptying a cache folder also removes the folders that an open cache uses.
    if (opened !== undefined && !existsSync(opened.folders.trees)) cache.close();
    if (opened !== undefined) return opened;
    opened = openFolders(folder);
    const { folders } = opened;
    payRoom(folders.owed, () => {
      removeTorn(folders.trees);
      removeDeadClaims(folders.claims);
      makeRoom(folders, maxBytes);
    });
    return opened;
  };
  // Another process may have filled it: the first skill that is kept makes room.
  let added = Number.POSITIVE_INFINITY;
  const isDue = (bytes: number): boolean => added + bytes > maxBytes * LOOK_AFTER;

  /** Leases a tree, and checks whether it is there. */
  const hold = (digest: string): { place: string; files: readonly SkillFile[] | undefined; release: () => void } => {
    const { folders, leases } = open();
    const tree = treeOf(digest);
    // In this order; see `claimTree`.
    const release = leases.hold(tree);
    awaitUnclaimed(folders.claims, tree);
    const place = join(folders.trees, tree);
    const files = filesIn(place);
    const isSame = files !== undefined && skillDigest(files) === digest;
    if (files !== undefined && !isSame) discard(place);
    if (isSame) touch(place);
    return { place, files: isSame ? files : undefined, release };
  };

  const cache: TreeCache = {
    folder,
    maxBytes,
    find: (digest) =>
      ofPlaces(() => {
        const { place, files, release } = hold(digest);
        if (files !== undefined) return heldView({ digest, files, folder: place }, release);
        release();
        return undefined;
      }),
    keep: (tree) =>
      ofPlaces(() => {
        const listed = listFiles(tree);
        const digest = skillDigest(listed);
        const { place, files = listed, release } = hold(digest);
        if (files !== listed) return heldView({ digest, files, folder: place }, release);
        try {
          const { trees, owed } = open().folders;
          const bytes = listed.reduce((sum, file) => sum + file.bytes, 0);
          const settle = isDue(bytes) ? oweRoom(owed) : undefined;
          removeTorn(trees);
          // If another process was faster, it wrote the same files.
          writeTree(trees, treeOf(digest), tree, 'kept');
          cache.added(bytes);
          settle?.();
        } catch (error) {
          release();
          throw error;
        }
        return heldView({ digest, files: listed, folder: place }, release);
      }),
    added: (bytes) =>
      ofPlaces(() => {
        const isOver = isDue(bytes);
        added += bytes;
        if (!isOver) return;
        const { folders } = open();
        const settle = oweRoom(folders.owed);
        makeRoom(folders, maxBytes);
        settle();
        added = 0;
      }),
    close() {
      opened?.leases.close();
      opened = undefined;
    },
  };
  return cache;
}

/** An unusable place is not a bug of this package: callers get an error about the place. */
function ofPlaces<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw fileSystemFault(error) ?? error;
  }
}

const releases = new WeakMap<SkillView, () => void>();

function heldView(view: SkillView, release: () => void): SkillView {
  releases.set(view, release);
  return view;
}

/** Releases a view of any cache. Without other holders it can be evicted. */
export function releaseView(view: SkillView): void {
  releases.get(view)?.();
}

/** Share of the limit that may be added before the total is counted anew. */
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

/** The files of a tree, as in a manifest. */
export function listFiles(tree: SkillTree): SkillFile[] {
  return [...tree]
    .map(([path, { bytes, executable }]) => ({ path, digest: digestOf(bytes), bytes: bytes.length, executable }))
    .toSorted((a, b) => compareCodePoints(a.path, b.path));
}

function filesIn(place: string): readonly SkillFile[] | undefined {
  try {
    return readManifest(place).files;
  } catch {
    // Missing or unreadable: the caller fetches it again.
    return undefined;
  }
}

/** Eviction goes by the time of last use. */
function touch(place: string): void {
  try {
    const now = new Date();
    utimesSync(place, now, now);
  } catch {
    // Evicted meanwhile, or it belongs to another user.
  }
}
