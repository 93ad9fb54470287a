import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { currentOwner, isDead, ownerName, parseOwnerName } from '../../durable/owner.ts';
import { removeTree } from '../../durable/remove-tree.ts';

/** Says which trees somebody needs, for whoever makes room. */
export interface Leases {
  /** From now on, and until `close`, the tree is needed. */
  hold(tree: string): void;
  close(): void;
}

/** Opens a folder of leases in the name of this process. One of a process that died holds nothing. */
export function openLeases(folder: string): Leases {
  const own = join(folder, `${ownerName(currentOwner())}-${randomBytes(4).toString('hex')}`);
  const held = new Set<string>();
  return {
    hold(tree) {
      if (held.has(tree)) return;
      mkdirSync(own, { recursive: true, mode: 0o700 });
      writeFileSync(join(own, tree), '');
      held.add(tree);
    },
    close() {
      removeTree(own);
      held.clear();
    },
  };
}

/** Trees that a living process needs. What dead ones left goes away. */
export function heldTrees(folder: string): ReadonlySet<string> {
  const held = new Set<string>();
  for (const name of namesIn(folder)) {
    const owner = parseOwnerName(name);
    if (owner !== undefined && isDead(owner)) removeTree(join(folder, name));
    else for (const tree of namesIn(join(folder, name))) held.add(tree);
  }
  return held;
}

/** Names in a folder; none where it is not there. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}
