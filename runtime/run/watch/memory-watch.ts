import { openGroupMemory, usedBytes } from '../../sandbox/group-memory.ts';
import type { Privileges } from '../../sandbox/privileges.ts';
import { isExiting, memoryShare, type MemoryShare, type ProcessRow } from '../../sandbox/process-table.ts';
import type { SandboxLayout } from '../../sandbox/sandbox-layout.ts';
import type { UserProcesses } from '../../sandbox/user-processes.ts';

const PAGE_BYTES = 4096;
const INTERVAL_MS = 100;
/** After that long somebody else is ended as well: what was ended hangs in the kernel. */
const END_MS = 2_000;

/** A watch over what user code holds in memory. */
export interface MemoryWatch {
  /**
   * Looks once more, also at the peak: whether user code has passed its limit, or the kernel ended a part of it, since the watch began.
   *
   * @param mainLives that its main process is there: then a part of it that the kernel ended counts only where the peak is above the limit, which
   *   one counter tells. What the kernel ends when the whole machine is short of memory is not told; a short run would else take longer
   */
  wasOver(mainLives?: boolean): boolean;
  stop(): void;
}

/** What a watch needs of the sandbox around it. */
export interface WatchedSandbox {
  layout: SandboxLayout;
  processes: UserProcesses;
  privileges: Privileges;
}

/**
 * Looks ten times a second at what user code itself holds. Above its limit the largest processes are ended, as the kernel does it:
 * what waits for them goes on to its own end. Files count for the workspace. A control group tells all of it by one file, its peak by
 * another one. Without a group the processes are asked.
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
    // What we or the kernel have ended counts until its memory is taken back, though it shows none any more.
    if (rows.some((row) => ending.has(row.pid) || isExiting(row))) {
      waitingSince ??= performance.now();
      if (performance.now() - waitingSince < END_MS) return;
    }
    waitingSince = undefined;
    ending = privileges.asUser(() => endLargest(rows, excess));
  }, INTERVAL_MS);
  return {
    // Processes are not asked at the end: one that is ending tells no share, and all that it shares would count for it.
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

/** Ends processes, the largest first, until as much as is too much has been theirs. Returns their ids. */
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
      // It ended by itself, which is what the signal is for.
    }
  }
  return ended;
}

/**
 * Adds up the resident memory of user code and its files in /dev/shm. Pages that processes share, and files, are counted for each at
 * first; only where that is too much is each one's own share asked for, which takes longer. Other shared memory that no process has
 * mapped in is not seen, nor what is held between two looks, and so a program that means to can pass this watch. The result says that
 * the limit is only watched.
 */
function heldUncounted(processes: UserProcesses, { sharedMemory }: SandboxLayout, limitBytes: number): number {
  const rows = processes.list();
  const files = sharedMemory === undefined ? 0 : usedBytes(sharedMemory);
  const most = rows.reduce((bytes, row) => bytes + residentBytes(row), files);
  if (most <= limitBytes) return most;
  const shares = rows.map((row) => memoryShare(row.pid) ?? { anonymous: residentBytes(row), shared: 0 });
  const sum = (kind: keyof MemoryShare): number => shares.reduce((bytes, share) => bytes + share[kind], 0);
  // Files that are mapped in are in both.
  return sum('anonymous') + Math.max(files, sum('shared'));
}

function residentBytes(row: ProcessRow): number {
  return row.residentPages * PAGE_BYTES;
}
