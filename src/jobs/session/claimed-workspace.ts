import { linkSync, readFileSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { currentOwner, isDead, ownerName, parseOwnerName } from '../../durable/owner.ts';

/** A kept workspace that one session goes on with, and nobody else meanwhile. */
export interface ClaimedWorkspace {
  read(): Buffer;
  /** The session did not begin, or we failed: it is there for the next one. Does nothing once it is dropped. */
  release(): void;
  /** The session went on and left it behind. */
  drop(): void;
}

/**
 * Claims an archive for this process: it gets a name with its owner, which succeeds for one only. What a dead owner claimed counts as if it
 * had been released, unless a newer archive has taken its place.
 *
 * @param folder holds the archives
 * @param name the archive's name there, which no other one's begins with
 * @returns undefined where there is none, or a living owner has it
 */
export function claimWorkspace(folder: string, name: string): ClaimedWorkspace | undefined {
  const place = join(folder, name);
  const claimed = claimedPlace(folder, name);
  const left = abandoned(folder, name);
  const [newest] = newestFirst([place, ...left]);
  // First: somebody who looks when the newest one is taken finds nothing older that would be left.
  for (const older of left) if (older !== newest) rmSync(older, { force: true });
  if (newest === undefined || isMissed(() => renameSync(newest, claimed))) return undefined;
  return {
    read: () => readFileSync(claimed),
    release() {
      // By a link, which never takes the place of a newer one.
      isMissed(() => linkSync(claimed, place));
      rmSync(claimed, { force: true });
    },
    drop: () => rmSync(claimed, { force: true }),
  };
}

/** Where an archive lies that only this process may take. */
export function claimedPlace(folder: string, name: string): string {
  return join(folder, `${name}.${ownerName(currentOwner())}-${randomBytes(8).toString('hex')}`);
}

/** Those that are there: a dead owner may have left what it went on with beside what it kept anew. */
function newestFirst(paths: readonly string[]): string[] {
  const written = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return paths
    .flatMap((path) => {
      const at = written(path);
      return at === undefined ? [] : [{ path, at }];
    })
    .toSorted((a, b) => b.at - a.at)
    .map(({ path }) => path);
}

/** What dead owners had claimed, or had not published. */
function abandoned(folder: string, name: string): string[] {
  const names = readdirSync(folder).filter((found) => {
    const owner = found.startsWith(`${name}.`) ? parseOwnerName(found.slice(name.length + 1)) : undefined;
    return owner !== undefined && isDead(owner);
  });
  return names.map((found) => join(folder, found));
}

/** Whether a file is not there any more, or another one is in its place. */
function isMissed(move: () => void): boolean {
  try {
    move();
    return false;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'EEXIST') return true;
    throw error;
  }
}
