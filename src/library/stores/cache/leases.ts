import { lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDead, ownedName, parseOwnerName } from '../../../durable/owner.ts';
import { removeTree } from '../../../durable/remove-tree.ts';

/** Tells evicting processes which entries this process needs. */
export interface Leases {
  /**
   * Marks the entry as needed until every holder has released it, or until `close`.
   *
   * @returns releases the entry; a second call has no effect
   */
  hold(entry: string): () => void;
  close(): void;
}

/** Opens a folder of leases in the name of this process. Leases of a dead process hold nothing. */
export function openLeases(folder: string): Leases {
  const own = join(folder, ownedName());
  /** Number of holders of each entry. */
  let held = new Map<string, number>();
  return {
    hold(entry) {
      const [then, count] = [held, held.get(entry) ?? 0];
      if (count === 0) {
        mkdirSync(own, { recursive: true, mode: 0o700 });
        writeFileSync(join(own, entry), '');
      }
      held.set(entry, count + 1);
      let isHeld = true;
      return () => {
        if (!isHeld || then !== held) return;
        isHeld = false;
        const left = (held.get(entry) ?? 1) - 1;
        if (left > 0) held.set(entry, left);
        else {
          held.delete(entry);
          rmSync(join(own, entry), { force: true });
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

/** Whether a living process needs an entry. Removes the leases of dead processes. */
export function isLeased(folder: string, entry: string): boolean {
  let found = false;
  for (const name of namesIn(folder)) {
    const owner = parseOwnerName(name);
    if (owner !== undefined && isDead(owner)) removeTree(join(folder, name));
    else found ||= lstatSync(join(folder, name, entry), { throwIfNoEntry: false }) !== undefined;
  }
  return found;
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
