import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { currentOwner, isDead, ownerName, parseOwnerName } from '../../../durable/owner.ts';
import { namesIn } from './leases.ts';

/** The longest that a tree is waited for that somebody is about to evict. */
const WAIT_MS = 5_000;
const NAP_MS = 2;

/** What a reader waits on. */
const nap = new Int32Array(new SharedArrayBuffer(4));

/**
 * Says that a tree is about to be evicted. Whoever needs a tree says that first and looks for claims then; whoever evicts claims first and looks for
 * needs then: so one of the two sees the other.
 *
 * @returns takes the claim back
 */
export function claimTree(folder: string, tree: string): () => void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${ownerName(currentOwner())}.${tree}`);
  writeFileSync(path, '');
  return () => rmSync(path, { force: true });
}

/** Waits until nobody who lives claims a tree. */
export function awaitUnclaimed(folder: string, tree: string): void {
  for (const end = performance.now() + WAIT_MS; isClaimed(folder, tree) && performance.now() < end;) {
    // Reading by digest is synchronous, and a claim is held for as long as a rename takes.
    Atomics.wait(nap, 0, 0, NAP_MS);
  }
}

function isClaimed(folder: string, tree: string): boolean {
  return namesIn(folder).some((name) => name.endsWith(`.${tree}`) && !removedAsDead(folder, name));
}

/** Removes the claims of those who died before they evicted. */
export function removeDeadClaims(folder: string): void {
  for (const name of namesIn(folder)) removedAsDead(folder, name);
}

function removedAsDead(folder: string, name: string): boolean {
  const owner = parseOwnerName(name);
  if (owner === undefined || !isDead(owner)) return false;
  rmSync(join(folder, name), { force: true });
  return true;
}
