import { readFileSync, readlinkSync } from 'node:fs';

/**
 * Who owns a sandbox, a lock, or a file on its way to the disk: boot, process namespace, process id and that process's start time, so that
 * neither a recycled pid nor a process of another namespace is taken for the owner.
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

/** An owner as a part of a name: letters, digits and `-`. */
export function ownerName(owner: Owner): string {
  return `${owner.boot}-${owner.pidNamespace}-${owner.pid}-${owner.startTime}`;
}

/** Reads an owner back from the beginning of a name. */
export function parseOwnerName(name: string): Owner | undefined {
  const match = /^([0-9a-f]{12})-(\d+)-(\d+)-(\d+)/.exec(name);
  if (match === null) return undefined;
  const [, boot = '', namespace = '', pid = '', startTime = ''] = match;
  return { boot, pidNamespace: namespace, pid: Number(pid), startTime };
}

/**
 * Whether an owner is surely dead. One of another process namespace of this boot cannot be judged from here and counts
 * as alive. One of another boot is dead where only this machine leaves traces, and cannot be judged where others do.
 */
export function isDead(owner: Owner, otherBoot: 'dead' | 'unknown' = 'dead'): boolean {
  if (owner.boot !== bootId()) return otherBoot === 'dead';
  if (owner.pidNamespace !== pidNamespace()) return false;
  return startTimeOf(owner.pid) !== owner.startTime;
}

/** Whether an owner can be judged from here: it is of this boot and this process namespace. */
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

/** Start time of a living process in clock ticks since boot; a process that is only waiting to be reaped is dead. */
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
