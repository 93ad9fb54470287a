import { randomBytes } from 'node:crypto';
import { readdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { currentOwner, isDead, ownerName, parseOwnerName } from '../../durable/owner.ts';
import { removeTree } from '../../durable/remove-tree.ts';

const PART = /^\.(.+)\.part$/;

/** A path in a folder for what is not yet, or no longer, at its place, in the name of this process. */
export function asideIn(folder: string): string {
  return join(folder, `.${ownerName(currentOwner())}-${randomBytes(8).toString('hex')}.part`);
}

/** Takes something out of the way at once, for whoever looks at its place; then from the disk. */
export function discard(place: string): void {
  const aside = asideIn(dirname(place));
  try {
    renameSync(place, aside);
  } catch {
    // Another process was faster.
    return;
  }
  removeTree(aside);
}

/** Removes what processes left aside that are dead. */
export function removeTorn(folder: string): void {
  for (const name of readdirSync(folder)) {
    const owner = parseOwnerName(PART.exec(name)?.[1] ?? '');
    if (owner !== undefined && isDead(owner)) removeTree(join(folder, name));
  }
}
