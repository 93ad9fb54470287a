import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { tornPath } from '../../../durable/durable-file.ts';
import { isDead, ownedName, parseOwnerName } from '../../../durable/owner.ts';
import { removeTree } from '../../../durable/remove-tree.ts';
import { namesIn } from './leases.ts';

/**
 * Removes an entry of a cache, unless a reader needs it. A claim announces the eviction first and gives the temporary path to which the entry is
 * then renamed. A reader announces its need first, and then revokes the claims. So an evicting process sees the need of each reader that did not
 * see its claim, and no process waits for another.
 *
 * @param claims folder of the claims
 * @param place of the entry
 * @param isNeeded decides after the claim
 * @returns whether the entry was removed
 */
export function evictClaimed(claims: string, place: string, isNeeded: () => boolean): boolean {
  mkdirSync(claims, { recursive: true, mode: 0o700 });
  const name = ownedName();
  const claim = join(claims, `${name}.${basename(place)}`);
  const aside = tornPath(dirname(place), name);
  writeFileSync(claim, '');
  try {
    return !isNeeded() && isMoved(place, aside);
  } finally {
    // In this order; see `revokeClaims`.
    rmSync(claim, { force: true });
    removeTree(aside);
  }
}

function isMoved(place: string, aside: string): boolean {
  try {
    renameSync(place, aside);
    return true;
  } catch {
    // The entry is gone, or a reader has revoked the claim.
    return false;
  }
}

/** Revokes the claims on an entry: a file at the path of the eviction makes its rename fail. Evictions that are complete stay so. */
export function revokeClaims(claims: string, place: string): void {
  const ending = `.${basename(place)}`;
  for (const name of namesIn(claims)) {
    if (!name.endsWith(ending) || removedAsDead(claims, name)) continue;
    const aside = tornPath(dirname(place), name.slice(0, -ending.length));
    try {
      writeFileSync(aside, '', { flag: 'wx', mode: 0o600 });
    } catch (error) {
      // The eviction is complete, or another reader has revoked it.
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue;
      throw error;
    }
    // The evicting process removes the file after its claim. Without the claim, it is past that.
    if (!existsSync(join(claims, name))) rmSync(aside, { force: true });
  }
}

/** Removes the claims of processes that died before they evicted. */
export function removeDeadClaims(claims: string): void {
  for (const name of namesIn(claims)) removedAsDead(claims, name);
}

function removedAsDead(claims: string, name: string): boolean {
  const owner = parseOwnerName(name);
  if (owner === undefined || !isDead(owner)) return false;
  rmSync(join(claims, name), { force: true });
  return true;
}
