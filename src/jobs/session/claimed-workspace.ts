import { linkSync, readFileSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { currentOwner, isDead, ownerName, parseOwnerName } from '../../durable/owner.ts';

/** A kept workspace that one session resumes; no other session can claim it meanwhile. */
export interface ClaimedWorkspace {
  read(): Buffer;
  /** Gives the archive back, if the session did not begin or we failed. Does nothing after `drop`. */
  release(): void;
  /** Removes the archive: the session has begun and no longer needs it. */
  drop(): void;
}

/**
 * Claims an archive for this process by renaming it to a name with its owner, which only one process can do. A claim of a dead owner counts
 * as released, unless a newer archive has taken its place.
 *
 * @param folder holds the archives
 * @param name file name of the archive; no other name in the folder may begin with it
 * @returns undefined where there is no archive, or a living owner has it
 */
export function claimWorkspace(folder: string, name: string): ClaimedWorkspace | undefined {
  const place = join(folder, name);
  const claimed = claimedPlace(folder, name);
  const left = abandoned(folder, name);
  const [newest] = newestFirst([place, ...left]);
  // Older archives go first: otherwise another process could claim one of them after the newest is taken.
  for (const older of left) if (older !== newest) rmSync(older, { force: true });
  if (newest === undefined || isMissed(() => renameSync(newest, claimed))) return undefined;
  return {
    read: () => readFileSync(claimed),
    release() {
      // A link never replaces a newer archive.
      isMissed(() => linkSync(claimed, place));
      rmSync(claimed, { force: true });
    },
    drop: () => rmSync(claimed, { force: true }),
  };
}

/** Path of an archive that only this process may take. */
export function claimedPlace(folder: string, name: string): string {
  return join(folder, `${name}.${ownerName(currentOwner())}-${randomBytes(8).toString('hex')}`);
}

/** The paths that exist. A dead owner may have left two: the archive that it resumed and the archive that it kept anew. */
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

/** Archives that dead owners had claimed, or had not published. */
function abandoned(folder: string, name: string): string[] {
  const names = readdirSync(folder).filter((found) => {
    const owner = found.startsWith(`${name}.`) ? parseOwnerName(found.slice(name.length + 1)) : undefined;
    return owner !== undefined && isDead(owner);
  });
  return names.map((found) => join(folder, found));
}

/** Whether the move failed because the source is gone or the target exists. */
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
