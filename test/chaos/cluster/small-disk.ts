import { execFileSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { currentOwner, isDead, ownerName, parseOwnerName } from '../../../src/durable/owner.ts';

const SOURCE = 'skillcell-disk-';
const MIB = 1024 * 1024;

/** A file system of its own, with little room. */
export interface SmallDisk extends Disposable {
  /** Takes all of its room. What a folder held is out of its user's sight from now on. */
  fill(emptied: string): void;
  /** Gives the room back. */
  empty(): void;
}

/** Mounts it at a folder, and removes those of dead processes. */
export function mountSmallDisk(folder: string, mib: number): SmallDisk {
  removeDeadDisks();
  execFileSync('/usr/bin/mount', [
    ...['-t', 'tmpfs', '-o', `size=${mib}m,mode=0755`],
    ...[`${SOURCE}${ownerName(currentOwner())}`, folder],
  ]);
  const [filling, aside] = [join(folder, 'filling'), join(folder, 'aside')];
  return {
    fill(emptied) {
      rmSync(aside, { recursive: true, force: true });
      mkdirSync(aside);
      for (const name of readdirSync(join(folder, emptied))) renameSync(join(folder, emptied, name), join(aside, name));
      const file = openSync(filling, 'a');
      for (const size of [MIB, 4_096]) while (writes(file, Buffer.alloc(size, 'x')));
      closeSync(file);
    },
    empty: () => rmSync(filling, { force: true }),
    [Symbol.dispose]: () => unmount(folder),
  };
}

function writes(file: number, bytes: Buffer): boolean {
  try {
    return writeSync(file, bytes) === bytes.length;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    return false;
  }
}

function removeDeadDisks(): void {
  for (const line of readFileSync('/proc/mounts', 'utf8').split('\n')) {
    const [source = '', folder = ''] = line.split(' ');
    const owner = source.startsWith(SOURCE) ? parseOwnerName(source.slice(SOURCE.length)) : undefined;
    if (owner !== undefined && isDead(owner)) unmount(folder);
  }
}

/** A process that still ends there does not hold it. */
function unmount(folder: string): void {
  if (existsSync(folder)) execFileSync('/usr/bin/umount', ['--lazy', folder]);
}
