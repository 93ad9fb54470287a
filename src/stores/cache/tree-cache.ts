import { mkdirSync, readdirSync, renameSync, utimesSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import type { SkillFile, SkillTree } from '../../contracts/skill.ts';
import type { SkillView } from '../../contracts/store.ts';
import { currentOwner, isDead, ownerName, parseOwnerName } from '../../durable/owner.ts';
import { removeTree } from '../../durable/remove-tree.ts';
import { writeTree } from '../../durable/write-tree.ts';
import { readManifest } from '../../skills/load/read-manifest.ts';
import { digestOf, skillDigest } from '../../skills/text/digest.ts';
import { compareCodePoints } from '../../skills/text/text.ts';

/** Skills by their digests, each in a folder that nobody changes. Processes share it. */
export interface TreeCache {
  readonly folder: string;
  /** The skill of a digest, each byte of which was looked at; undefined where it is not there, or no longer what it was. */
  find(digest: string): SkillView | undefined;
  /** Keeps a skill. @throws the system's error */
  keep(tree: SkillTree): SkillView;
  /** Says that what it gave is no longer needed. */
  close(): void;
}

const PART = /^\.(.+)\.part$/;

/** Where the cache is unless it is named. */
export function defaultCacheFolder(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const base = env['XDG_CACHE_HOME'];
  return join(base === undefined || base === '' ? join(homedir(), '.cache') : base, 'skillcell');
}

/** Opens a cache, whose folder is made with the first skill. Others may not look into it. */
export function openTreeCache(folder: string): TreeCache {
  const trees = join(folder, 'trees');
  const placeOf = (digest: string): string => join(trees, digest.replace('sha256:', ''));

  const find = (digest: string): SkillView | undefined => {
    const place = placeOf(digest);
    const files = filesIn(place);
    if (files === undefined) return undefined;
    if (skillDigest(files) !== digest) {
      discard(place);
      return undefined;
    }
    touch(place);
    return { digest, files, folder: place };
  };

  return {
    folder,
    find,
    keep(tree) {
      const files = listFiles(tree);
      const digest = skillDigest(files);
      const known = find(digest);
      if (known !== undefined) return known;
      mkdirSync(trees, { recursive: true, mode: 0o700 });
      removeTorn(trees);
      writeTree(trees, digest.replace('sha256:', ''), tree, 'kept');
      return { digest, files, folder: placeOf(digest) };
    },
    close() {},
  };
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

function removeTorn(trees: string): void {
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
