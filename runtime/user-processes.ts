import { hasEnvironmentEntry, innerPid, isAlive, listProcesses, type ProcessRow } from './process-table.ts';

/** The processes of user code, however they came to be. */
export interface UserProcesses {
  /** Those that live, and the processes that hold their namespace. */
  list(): ProcessRow[];
  /** Asks user code to end; what holds the namespace is left alone. */
  terminate(): void;
  /** Kills until no process is left, since one round can miss a child born meanwhile. Gives up after `timeoutMs`. */
  killAll(timeoutMs: number): Promise<boolean>;
}

/**
 * At level namespace: all that this process namespace holds besides the sandbox's first process, the entry and the
 * helpers that the entry names.
 */
export function namespaceProcesses(): UserProcesses {
  const list = (): ProcessRow[] =>
    listProcesses().filter((row) => row.pid !== 1 && row.pid !== process.pid && isAlive(row));
  return withKilling(list, (row) => (innerPid(row.pid) ?? 1) > 1);
}

/** At level none: the executor's process group, what descends from it, and what still carries the job's marker. */
export function markedProcesses(marker: string, executorPid: () => number | undefined): UserProcesses {
  const list = (): ProcessRow[] => {
    const rows = listProcesses().filter((row) => row.pid !== process.pid && isAlive(row));
    const found = new Set<number>();
    const root = executorPid();
    if (root !== undefined) found.add(root);
    for (const row of rows) if (hasEnvironmentEntry(row.pid, marker)) found.add(row.pid);
    for (let grown = true; grown;) {
      grown = false;
      for (const row of rows) {
        if (!found.has(row.pid) && found.has(row.parent)) {
          found.add(row.pid);
          grown = true;
        }
      }
    }
    return rows.filter((row) => found.has(row.pid));
  };
  return withKilling(list, () => true);
}

function withKilling(list: () => ProcessRow[], isUserCode: (row: ProcessRow) => boolean): UserProcesses {
  return {
    list,
    terminate() {
      for (const row of list()) if (isUserCode(row)) signal(row.pid, 'SIGTERM');
    },
    async killAll(timeoutMs) {
      const deadline = performance.now() + timeoutMs;
      for (;;) {
        const rows = list();
        if (rows.length === 0) return true;
        for (const row of rows) signal(row.pid, 'SIGKILL');
        if (performance.now() > deadline) return false;
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    },
  };
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It ended by itself, which is what the signal is for.
  }
}
