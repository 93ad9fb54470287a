import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import type { SkillFile, SkillTree } from '../../../contracts/skills/skill.ts';
import type { SkillView } from '../../../contracts/skills/store.ts';
import { removeTorn } from '../../../durable/durable-file.ts';
import { fileSystemFault } from '../../../durable/file-system-fault.ts';
import { writeTree } from '../../../durable/write-tree.ts';
import { readManifest } from '../../../skills/load/read-manifest.ts';
import { digestOf, skillDigest } from '../../../skills/text/digest.ts';
import { compareCodePoints } from '../../../skills/text/text.ts';
import { checkCacheOptions } from './check-store-options.ts';
import { touch } from './cache-entries.ts';
import { type CacheFolders, makeRoom } from './make-room.ts';
import { oweRoom, payRoom } from './owed-room.ts';
import { privateFolder } from './private-folder.ts';
import { openSharedEntries, type SharedEntries } from './shared-entries.ts';

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
    const { folders, shared } = opened;
    payRoom(folders.owed, () => {
      removeTorn(folders.trees);
      shared.sweep();
      makeRoom(folders, shared, { maxBytes });
    });
    return opened;
  };
  // Another process may have filled it: the first skill that is kept makes room.
  let added = Number.POSITIVE_INFINITY;
  const isDue = (bytes: number): boolean => added + bytes > maxBytes * LOOK_AFTER;

  /** A view that is held; undefined where `read` finds no files. */
  const hold = (digest: string, read: (place: string) => readonly SkillFile[] | undefined): SkillView | undefined => {
    const { folders, shared } = open();
    const place = join(folders.trees, treeOf(digest));
    const release = shared.hold(place);
    let files: readonly SkillFile[] | undefined;
    try {
      files = read(place);
      if (files === undefined) return undefined;
      const view: SkillView = { digest, files, folder: place };
      releases.set(view, release);
      return view;
    } finally {
      if (files === undefined) release();
    }
  };

  /** The files of a held place, after a check of every byte. A damaged tree is removed. */
  const look = (place: string, digest: string): readonly SkillFile[] | undefined => {
    const files = filesIn(place);
    if (files === undefined) return undefined;
    if (skillDigest(files) === digest) {
      touch(place);
      return files;
    }
    open().shared.discard(place, () => {
      const now = filesIn(place);
      return now === undefined || skillDigest(now) === digest;
    });
    return undefined;
  };

  /** @returns false if the place is not empty: another process was faster */
  const write = (tree: SkillTree, digest: string, bytes: number): boolean => {
    const { trees, owed } = open().folders;
    const settle = isDue(bytes) ? oweRoom(owed) : undefined;
    removeTorn(trees);
    const isWritten = writeTree(trees, treeOf(digest), tree, 'kept');
    if (isWritten) cache.added(bytes);
    settle?.();
    return isWritten;
  };

  const cache: TreeCache = {
    folder,
    maxBytes,
    find: (digest) => ofPlaces(() => hold(digest, (place) => look(place, digest))),
    keep: (tree) =>
      ofPlaces(() => {
        const listed = listFiles(tree);
        const digest = skillDigest(listed);
        const bytes = listed.reduce((sum, file) => sum + file.bytes, 0);
        const view = hold(digest, (place) => {
          for (let looks = 0; looks < LOOKS; looks += 1) {
            const files = look(place, digest);
            if (files !== undefined) return files;
            open().shared.prepare(place);
            if (write(tree, digest, bytes)) return listed;
          }
          return undefined;
        });
        if (view === undefined) throw unremovable(digest, folder);
        return view;
      }),
    added: (bytes) =>
      ofPlaces(() => {
        const isOver = isDue(bytes);
        added += bytes;
        if (!isOver) return;
        const { folders, shared } = open();
        const settle = oweRoom(folders.owed);
        makeRoom(folders, shared, { maxBytes });
        settle();
        added = 0;
      }),
    close() {
      opened?.shared.close();
      opened = undefined;
    },
  };
  return cache;
}

function unremovable(digest: string, folder: string): SkillcellError {
  const message = `Cannot keep the skill: a damaged copy of it cannot be removed from the cache, got ${digest} in ${folder}.`;
  return new SkillcellError('store.unavailable', message, { hint: 'Remove the cache; it is filled again.' });
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

/** Releases a view of any cache. Without other holders it can be evicted. */
export function releaseView(view: SkillView): void {
  releases.get(view)?.();
}

/** Share of the limit that may be added before the total is counted anew. */
const LOOK_AFTER = 1 / 16;
/** Attempts to keep a skill whose place holds a damaged copy. */
const LOOKS = 5;

interface OpenedCache {
  folders: CacheFolders;
  shared: SharedEntries;
}

function openFolders(folder: string): OpenedCache {
  const real = privateFolder(folder);
  const trees = join(real, 'trees');
  mkdirSync(trees, { recursive: true, mode: 0o700 });
  const files = ['index', 'lists'].map((name) => join(real, name));
  const databases = [join(real, OBJECTS_FILE)];
  return { folders: { trees, owed: join(real, 'owed'), files, databases }, shared: openSharedEntries(real) };
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
