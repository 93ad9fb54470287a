import type { UserProcesses } from './user-processes.ts';

const PAGE_BYTES = 4096;

/**
 * Where no control group holds the limit: adds up the resident memory of user code every 100 ms and calls `onOver`
 * once. Pages that processes share are counted for each; shared memory that no process has mapped in is not seen, and
 * so a program that means to can pass this watch. The result says that the limit is only watched.
 *
 * @returns a function that stops the watch.
 */
export function watchMemory(processes: UserProcesses, limitBytes: number, onOver: () => void): () => void {
  const timer = setInterval(() => {
    let pages = 0;
    for (const row of processes.list()) pages += row.residentPages;
    if (pages * PAGE_BYTES <= limitBytes) return;
    clearInterval(timer);
    onOver();
  }, 100);
  return () => clearInterval(timer);
}
