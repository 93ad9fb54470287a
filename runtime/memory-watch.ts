import { proportionalBytes, type ProcessRow } from './process-table.ts';
import type { UserProcesses } from './user-processes.ts';

const PAGE_BYTES = 4096;

/**
 * Where no control group holds the limit: adds up the resident memory of user code every 100 ms and calls `onOver`
 * once. Pages that processes share are counted for each at first; only where that is too much is each one's own share
 * asked for, which takes longer. Shared memory that no process has mapped in is not seen, and so a program that means to
 * can pass this watch. The result says that the limit is only watched.
 *
 * @returns a function that stops the watch.
 */
export function watchMemory(processes: UserProcesses, limitBytes: number, onOver: () => void): () => void {
  const timer = setInterval(() => {
    const rows = processes.list();
    const sum = (bytesOf: (row: ProcessRow) => number): number => rows.reduce((bytes, row) => bytes + bytesOf(row), 0);
    if (sum(residentBytes) <= limitBytes) return;
    if (sum((row) => proportionalBytes(row.pid) ?? residentBytes(row)) <= limitBytes) return;
    clearInterval(timer);
    onOver();
  }, 100);
  return () => clearInterval(timer);
}

function residentBytes(row: ProcessRow): number {
  return row.residentPages * PAGE_BYTES;
}
