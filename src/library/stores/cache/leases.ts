import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { currentOwner, isDead, ownerName, parseOwnerName } from '../../../durable/owner.ts';
import { removeTree } from '../../../durable/remove-tree.ts';

/** Tells evicting processes which trees this process needs. */
export interface Leases {
  /**
   * Marks the tree as needed until every holder has released it, or until `close`.
   *
   * @returns releases the tree; a second call has no effect
   */
  hold(tree: string): () => void;
  close(): void;
}

/** Opens a folder of leases in the name of this process. Leases of a dead process hold nothing. */
export function openLeases(folder: string): Leases {
  const own = join(folder, `${ownerName(currentOwner())}-${randomBytes(4).toString('hex')}`);
  /** Number of holders of each tree. */
  let held = new Map<string, number>();
  return {
    hold(tree) {
      const [then, count] = [held, held.get(tree) ?? 0];
      if (count === 0) {
        mkdirSync(own, { recursive: true, mode: 0o700 });
        writeFileSync(join(own, tree), '');
      }
      held.set(tree, count + 1);
      let isHeld = true;
      return () => {
        if (!isHeld || then !== held) return;
        isHeld = false;
        const left = (held.get(tree) ?? 1) - 1;
        if (left > 0) held.set(tree, left);
        else {
          held.delete(tree);
          rmSync(join(own, tree), { force: true });
          if (held.size === 0) removeTree(own);
        }
      };
    },
    close() {
      removeTree(own);
      held = new Map();
    },
  };
}

/** Trees that a living process needs. Removes the leases of dead processes. */
export function heldTrees(folder: string): ReadonlySet<string> {
  const held = new Set<string>();
  for (const name of namesIn(folder)) {
    const owner = parseOwnerName(name);
    if (owner !== undefined && isDead(owner)) removeTree(join(folder, name));
    else for (const tree of namesIn(join(folder, name))) held.add(tree);
  }
  return held;
}

/** Names in a folder; empty where the folder is missing. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}
