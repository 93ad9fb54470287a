import { openGroupMemory, usedBytes } from './group-memory.ts';
import type { Privileges } from './privileges.ts';
import { isExiting, memoryShare, type MemoryShare, type ProcessRow } from './process-table.ts';
import type { SandboxLayout } from './sandbox-layout.ts';
import type { UserProcesses } from './user-processes.ts';

const PAGE_BYTES = 4096;
const INTERVAL_MS = 100;
/** After this time, further processes are ended: the first ones hang in the kernel. */
const END_MS = 2_000;

/** Watches the memory of user code. */
export interface MemoryWatch {
  /**
   * Checks once more, also the peak: whether user code has exceeded its limit, or the kernel killed a part of it, since the watch began.
   *
   * @param mainLives that the main process lives. Then a killed part counts only if the peak is above the limit, which
   *   one counter shows. Kills for a memory shortage of the whole machine go unreported; that keeps short runs fast
   */
  wasOver(mainLives?: boolean): boolean;
  stop(): void;
}

/** The parts of the sandbox that a watch needs. */
export interface WatchedSandbox {
  layout: SandboxLayout;
  processes: UserProcesses;
  privileges: Privileges;
}

/**
 * Checks the memory of user code ten times a second. Above its limit the largest processes are killed, like the kernel does; processes that wait for
 * them go on to their own end. Files count for the workspace. A control group reports the memory and its peak in one file each. Without a group the
 * processes are measured.
 */
export function watchMemory({ layout, processes, privileges }: WatchedSandbox, limitBytes: number): MemoryWatch {
  const group = openGroupMemory(layout);
  const uncounted = layout.level !== 'container' && layout.memoryGroup === undefined;
  const excessBytes = (): number => {
    if (group !== undefined) return group.heldAbove(limitBytes) - limitBytes;
    return uncounted ? heldUncounted(processes, layout, limitBytes) - limitBytes : 0;
  };
  let passed = false;
  let ending = new Set<number>();
  let waitingSince: number | undefined;
  const timer = setInterval(() => {
    const excess = excessBytes();
    if (excess <= 0) return;
    passed = true;
    const rows = processes.list();
    // A killed process counts until its memory is freed, although it shows no memory any more.
    if (rows.some((row) => ending.has(row.pid) || isExiting(row))) {
      waitingSince ??= performance.now();
      if (performance.now() - waitingSince < END_MS) return;
    }
    waitingSince = undefined;
    ending = privileges.asUser(() => endLargest(rows, excess));
  }, INTERVAL_MS);
  return {
    // Processes are not measured at the end: an ending process reports no share, so all its shared memory would count for it.
    wasOver(mainLives = false) {
      if (passed || group === undefined) return passed;
      const usedMore = group.usedMore(limitBytes);
      if ((usedMore || !mainLives) && group.hasKilled()) return true;
      return usedMore && (group.wasOver(limitBytes) || excessBytes() > 0);
    },
    stop() {
      clearInterval(timer);
      group?.close();
    },
  };
}

/** Kills processes, the largest first, until their memory covers the excess. Returns their ids. */
function endLargest(rows: readonly ProcessRow[], excessBytes: number): Set<number> {
  const ended = new Set<number>();
  let left = excessBytes;
  for (const row of rows.toSorted((a, b) => b.residentPages - a.residentPages)) {
    if (left <= 0) break;
    left -= residentBytes(row);
    ended.add(row.pid);
    try {
      process.kill(row.pid, 'SIGKILL');
    } catch {
      // It ended by itself, as intended.
    }
  }
  return ended;
}

/**
 * Adds up the resident memory of user code and its files in /dev/shm. At first, shared pages and files count for each process. Only if the sum is too
 * high is the share of each process read, which takes longer. The watch misses other shared memory that no process has mapped, and memory that is
 * held only between two checks, so a program can evade it on purpose. The result says that the limit is only watched.
 */
function heldUncounted(processes: UserProcesses, { sharedMemory }: SandboxLayout, limitBytes: number): number {
  const rows = processes.list();
  const files = sharedMemory === undefined ? 0 : usedBytes(sharedMemory);
  const most = rows.reduce((bytes, row) => bytes + residentBytes(row), files);
  if (most <= limitBytes) return most;
  const shares = rows.map((row) => memoryShare(row.pid) ?? { anonymous: residentBytes(row), shared: 0 });
  const sum = (kind: keyof MemoryShare): number => shares.reduce((bytes, share) => bytes + share[kind], 0);
  // Mapped files are in both sums.
  return sum('anonymous') + Math.max(files, sum('shared'));
}

function residentBytes(row: ProcessRow): number {
  return row.residentPages * PAGE_BYTES;
}
