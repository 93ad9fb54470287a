import { randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';

/**
 * Owner of a sandbox, a lock or a temporary file: boot, process namespace, process id and start time of the process. So neither a recycled
 * pid nor a process of another namespace passes for the owner.
 */
export interface Owner {
  boot: string;
  pidNamespace: string;
  pid: number;
  startTime: string;
}

/** This process as an owner. */
export function currentOwner(): Owner {
  return { boot: bootId(), pidNamespace: pidNamespace(), pid: process.pid, startTime: startTimeOf(process.pid) ?? '0' };
}

/** An owner as a part of a file name: letters, digits and `-`. */
export function ownerName(owner: Owner): string {
  return `${owner.boot}-${owner.pidNamespace}-${owner.pid}-${owner.startTime}`;
}

/** A new name that begins with this process as its owner. */
export function ownedName(): string {
  return `${ownerName(currentOwner())}-${randomBytes(8).toString('hex')}`;
}

/** Reads an owner back from the beginning of a name. */
export function parseOwnerName(name: string): Owner | undefined {
  const match = /^([0-9a-f]{12})-(\d+)-(\d+)-(\d+)/.exec(name);
  if (match === null) return undefined;
  const [, boot = '', namespace = '', pid = '', startTime = ''] = match;
  return { boot, pidNamespace: namespace, pid: Number(pid), startTime };
}

/**
 * Returns true if an owner is certainly dead. An owner of another process namespace of this boot cannot be judged and counts as alive.
 *
 * @param otherBoot verdict for owners of another boot: `dead` if only this machine writes owners, `unknown` (false) if other machines do too
 */
export function isDead(owner: Owner, otherBoot: 'dead' | 'unknown' = 'dead'): boolean {
  if (owner.boot !== bootId()) return otherBoot === 'dead';
  if (owner.pidNamespace !== pidNamespace()) return false;
  return startTimeOf(owner.pid) !== owner.startTime;
}

/** Returns true if the owner has this boot and this process namespace, so that its state can be judged. */
export function isOurs(owner: Owner): boolean {
  return owner.boot === bootId() && owner.pidNamespace === pidNamespace();
}

let knownBoot: string | undefined;
function bootId(): string {
  knownBoot ??= readFileSync('/proc/sys/kernel/random/boot_id', 'latin1')
    .replace(/[^0-9a-f]/g, '')
    .slice(0, 12);
  return knownBoot;
}

function pidNamespace(): string {
  return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
}

/** Start time of a living process in clock ticks since boot. A zombie counts as dead. */
function startTimeOf(pid: number): string | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    // No such process.
    return undefined;
  }
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
}
