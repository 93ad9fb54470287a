import { closeSync, existsSync, openSync, readFileSync, readSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import type { SandboxLayout } from './sandbox-layout.ts';

const PAGE_BYTES = 4_096;
const TMPFS = 0x0102_1994;
/** Memory that the kernel itself may have needed at a peak beyond its later use: page tables and stacks of ended processes. */
const KERNEL_BYTES = 16 * 1024 * 1024;
/** The path of a container's own control group. */
const CONTAINER_ROOT = '/sys/fs/cgroup';

/** Memory of user code, by the counters of the control group that it shares with its supervisor. */
export interface GroupMemory {
  /**
   * Bytes that user code holds now: its anonymous memory, and shared memory other than files of the sandbox. If that is surely at most `limitBytes`,
   * a cheaper upper bound.
   */
  heldAbove(limitBytes: number): number;
  /** Whether the whole group, including files, may have used more. If not, no other counter needs to be read. */
  usedMore(limitBytes: number): boolean;
  /** Whether user code must have held more at some moment since this was opened, however briefly. */
  wasOver(limitBytes: number): boolean;
  /** Whether the kernel has killed a process of the group for lack of memory since this was opened. */
  hasKilled(): boolean;
  close(): void;
}

interface Names {
  usage: string;
  peak: string;
  anonymous: string;
  shared: string;
  faults: string;
  events: string;
}

const VERSION_2: Names = {
  usage: 'memory.current',
  peak: 'memory.peak',
  anonymous: 'anon',
  shared: 'shmem',
  faults: 'pgfault',
  events: 'memory.events',
};
const VERSION_1: Names = {
  usage: 'memory.usage_in_bytes',
  peak: 'memory.max_usage_in_bytes',
  anonymous: 'total_rss',
  shared: 'total_shmem',
  faults: 'total_pgfault',
  events: 'memory.oom_control',
};

/** The counters of this sandbox's group, or undefined if they cannot be read. */
export function openGroupMemory(layout: SandboxLayout): GroupMemory | undefined {
  const folder = layout.level === 'container' ? containerFolder() : layout.memoryGroup;
  if (folder === undefined || !existsSync(join(folder, 'memory.stat'))) return undefined;
  return groupMemory(folder, () => fileBytes(layout));
}

function containerFolder(): string {
  return existsSync(join(CONTAINER_ROOT, 'cgroup.controllers')) ? CONTAINER_ROOT : join(CONTAINER_ROOT, 'memory');
}

/**
 * The same for a given folder of counters.
 *
 * @param filesNow bytes of files in memory, which do not count as memory of the program
 */
export function groupMemory(
  folder: string,
  filesNow: () => number,
  ownBytes: () => number = ownAnonymous,
): GroupMemory {
  const names = existsSync(join(folder, VERSION_2.usage)) ? VERSION_2 : VERSION_1;
  const { read, counter, close } = openCounters(folder);
  const peakBefore = counter(names.peak) ?? 0;
  const kills = (): number => field(read(names.events), 'oom_kill');
  const killsBefore = kills();
  let mostShared = 0;
  return {
    close,
    usedMore: (limitBytes) => (counter(names.peak) ?? Infinity) > limitBytes,
    heldAbove(limitBytes) {
      const text = read('memory.stat');
      const [anonymous, shared] = [field(text, names.anonymous), field(text, names.shared)];
      mostShared = Math.max(mostShared, shared);
      // This is an upper bound; the exact value is computed only if the bound exceeds the limit.
      if (anonymous + shared <= limitBytes) return anonymous + shared;
      return anonymous - ownBytes() + Math.max(0, shared - filesNow());
    },
    wasOver(limitBytes) {
      const peak = counter(names.peak);
      if (peak === undefined || peak <= limitBytes || peak <= peakBefore) return false;
      const text = read('memory.stat');
      const shared = field(text, names.shared);
      // At the peak there may have been more files than now. Bytes written to a file cause no page faults.
      const removed = Math.max(0, mostShared - shared);
      const others = (counter(names.usage) ?? 0) - field(text, names.anonymous) + removed;
      const held = peak - others - ownBytes() - KERNEL_BYTES;
      return held > limitBytes && field(text, names.faults) * PAGE_BYTES > limitBytes;
    },
    hasKilled: () => kills() > killsBefore,
  };
}

/** Anonymous memory of this process, which belongs to the supervisor. */
function ownAnonymous(): number {
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1] ?? 0) * 1024;
}

/**
 * Bytes of the sandbox's own files in memory, except those in /dev/shm: these count as memory of the program, whether they are mapped or not. At
 * level none the workspace may be on a file system of the machine.
 */
function fileBytes({ level, workspace, value, skills }: SandboxLayout): number {
  if (level === 'none') return isInMemory(workspace) ? Infinity : 0;
  const others = level === 'container' ? ['/tmp'] : ['/inner/tmp', '/run', '/tmp'];
  return [workspace, value, skills, ...others].reduce((bytes, folder) => bytes + usedBytes(folder), 0);
}

/** Bytes of all files in a file system. */
export function usedBytes(folder: string): number {
  const { blocks, bfree, bsize } = statfsSync(folder);
  return (blocks - bfree) * bsize;
}

function isInMemory(folder: string): boolean {
  try {
    return statfsSync(folder).type === TMPFS;
  } catch {
    // The program has removed the folder, so none of its files is left to count.
    return false;
  }
}

function field(text: string, name: string): number {
  return Number(`\n${text}`.split(`\n${name} `)[1]?.split('\n')[0] ?? 0);
}

/** Most bytes of one file of counters. */
const COUNTERS_BYTES = 64 * 1024;

/** Keeps the counter files open: a session reads them after each run, and opening takes longer than reading. */
function openCounters(folder: string): {
  /** Empty if an older kernel has no such counter. */
  read(file: string): string;
  counter(file: string): number | undefined;
  close(): void;
} {
  const open = new Map<string, number>();
  const buffer = Buffer.allocUnsafe(COUNTERS_BYTES);
  const read = (file: string): string => {
    try {
      const descriptor = open.get(file) ?? openSync(join(folder, file), 'r');
      open.set(file, descriptor);
      return buffer.toString('latin1', 0, readSync(descriptor, buffer, 0, COUNTERS_BYTES, 0));
    } catch {
      return '';
    }
  };
  return {
    read,
    counter(file) {
      const text = read(file).trim();
      return /^\d+$/.test(text) ? Number(text) : undefined;
    },
    close() {
      for (const descriptor of open.values()) closeSync(descriptor);
      open.clear();
    },
  };
}
