import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDead, ownedName, parseOwnerName } from '../../../durable/owner.ts';
import { namesIn } from './leases.ts';

/**
 * Notes that this process fills a cache and has not made room yet. If it dies, the next process makes room.
 *
 * @param folder of these notes
 * @returns removes the note, once there is room
 */
export function oweRoom(folder: string): () => void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, ownedName());
  writeFileSync(path, '');
  return () => rmSync(path, { force: true });
}

/** Makes the room that dead processes owed. */
export function payRoom(folder: string, makeRoom: () => void): void {
  const owed = namesIn(folder).filter((name) => {
    const owner = parseOwnerName(name);
    return owner !== undefined && isDead(owner);
  });
  if (owed.length === 0) return;
  makeRoom();
  for (const name of owed) rmSync(join(folder, name), { force: true });
}
