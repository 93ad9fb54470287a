import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { currentOwner, isDead, ownerName, parseOwnerName } from '../../../durable/owner.ts';
import { namesIn } from './leases.ts';

/** The longest wait for a tree that another process is about to evict. */
const WAIT_MS = 5_000;
const NAP_MS = 2;

/** Never changes: readers only sleep on it. */
const nap = new Int32Array(new SharedArrayBuffer(4));

/**
 * Announces the eviction of a tree. A reader first announces its need, then looks for claims; an evicting process first claims, then looks for
 * needs. So at least one of the two sees the other.
 *
 * @returns takes the claim back
 */
export function claimTree(folder: string, tree: string): () => void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${ownerName(currentOwner())}.${tree}`);
  writeFileSync(path, '');
  return () => rmSync(path, { force: true });
}

/** Waits until no living process claims a tree. */
export function awaitUnclaimed(folder: string, tree: string): void {
  for (const end = performance.now() + WAIT_MS; isClaimed(folder, tree) && performance.now() < end;) {
    // Reads by digest are synchronous, and a claim lasts only as long as a rename.
    Atomics.wait(nap, 0, 0, NAP_MS);
  }
}

function isClaimed(folder: string, tree: string): boolean {
  return namesIn(folder).some((name) => name.endsWith(`.${tree}`) && !removedAsDead(folder, name));
}

/** Removes the claims of processes that died before they evicted. */
export function removeDeadClaims(folder: string): void {
  for (const name of namesIn(folder)) removedAsDead(folder, name);
}

function removedAsDead(folder: string, name: string): boolean {
  const owner = parseOwnerName(name);
  if (owner === undefined || !isDead(owner)) return false;
  rmSync(join(folder, name), { force: true });
  return true;
}
