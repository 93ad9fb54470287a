import type { Privileges } from './privileges.ts';
import { USER_UID } from './privileges.ts';
import {
  handlesSignal,
  hasEnvironmentEntry,
  innerPid,
  isAlive,
  isExiting,
  listProcesses,
  realUid,
  type ProcessRow,
} from './process-table.ts';
import type { SandboxLayout } from './sandbox-layout.ts';

/** The processes of user code, however they came to be. */
export interface UserProcesses {
  /** Those that live, and the processes that hold their namespace. */
  list(): ProcessRow[];
  /** Asks user code to end, or to stop what it does; what holds the namespace is left alone. */
  terminate(signal?: 'SIGTERM' | 'SIGINT'): void;
  /** Asks the interpreters that buffer their output to write it; returns whether there is one. */
  flush(): boolean;
  /** Kills until no process can run another instruction. Gives up after `timeoutMs`. */
  killAll(timeoutMs: number): Promise<boolean>;
  /** Waits until the kernel has taken back what killed processes held. Gives up after `timeoutMs`. */
  gone(timeoutMs: number): Promise<boolean>;
}

/** The processes of user code at the level of this sandbox. */
export function userProcesses(
  layout: SandboxLayout,
  privileges: Privileges,
  executorPid: () => number | undefined,
): UserProcesses {
  switch (layout.level) {
    case 'none':
      return markedProcesses(`SKILLCELL_JOB_MARK=${layout.marker}`, executorPid);
    case 'namespace':
      return namespaceProcesses(executorPid);
    case 'container':
      return containerProcesses(privileges);
  }
}

/**
 * In a container: all that runs as user code's id. One call reaches all that exist at that moment, also a launcher that has
 * not given up uid 0 yet; only the first process and the caller are spared.
 */
function containerProcesses({ asRoot, asUserFromNow }: Privileges): UserProcesses {
  const list = (): ProcessRow[] => listProcesses().filter((row) => isAlive(row) && realUid(row.pid) === USER_UID);
  return {
    list,
    // User code lives on after this one, and as long as it does the supervisor does not keep its id.
    terminate: (name = 'SIGTERM') => asRoot(() => signal(-1, name)),
    flush: () => asRoot(() => askToFlush(list())),
    killAll: (timeoutMs) =>
      inRounds(timeoutMs, (round) => {
        // Its own account reaches all that user code has; and what is left is its, so that there is nothing to change back for.
        if (round % ROUNDS_AT_ONCE === 0) asUserFromNow(() => signal(-1, 'SIGKILL'));
        // The kernel lets no fork pass such a kill, so that nobody is born behind it, and what is dying runs no more code.
        return list().every(isExiting);
      }),
    gone: (timeoutMs) => inRounds(timeoutMs, () => list().length === 0),
  };
}

/**
 * At level namespace: all that this process namespace holds besides the sandbox's first process, the entry and the
 * helpers that the entry names.
 */
function namespaceProcesses(executorPid: () => number | undefined): UserProcesses {
  const list = (): ProcessRow[] =>
    listProcesses().filter((row) => row.pid !== 1 && row.pid !== process.pid && isAlive(row));
  return withKilling(list, {
    terminate: (rows, name) =>
      signalAll(
        rows.filter((row) => (innerPid(row.pid) ?? 1) > 1),
        name,
      ),
    kill: (rows) => signalAll(rows, 'SIGKILL'),
    begin() {
      // It holds the namespace of its program, which the kernel ends with it while we still look for what else there is.
      const pid = executorPid();
      if (pid !== undefined) signal(pid, 'SIGKILL');
    },
  });
}

/** At level none: the executor's process group, what descends from it, and what still carries the job's marker. */
function markedProcesses(marker: string, executorPid: () => number | undefined): UserProcesses {
  const list = (): ProcessRow[] => {
    const rows = listProcesses().filter((row) => row.pid !== process.pid && isAlive(row));
    const found = new Set<number>();
    const root = executorPid();
    if (root !== undefined) found.add(root);
    for (const row of rows) if (hasEnvironmentEntry(row, marker)) found.add(row.pid);
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
  return withKilling(list, {
    terminate: signalAll,
    kill: (rows) => signalAll(rows, 'SIGKILL'),
  });
}

/** A program is gone about a millisecond after it was killed; later rounds leave the processor to it. */
const ROUNDS_AT_ONCE = 20;

interface Signals {
  terminate(rows: readonly ProcessRow[], signal: NodeJS.Signals): void;
  kill(rows: readonly ProcessRow[]): void;
  /** Called before the first look. */
  begin?(): void;
}

/** For levels where processes are killed one by one: all that a list shows, until it shows none. */
function withKilling(list: () => ProcessRow[], signals: Signals): UserProcesses {
  return {
    list,
    terminate: (name = 'SIGTERM') => signals.terminate(list(), name),
    flush: () => askToFlush(list()),
    async killAll(timeoutMs) {
      signals.begin?.();
      let rows = list();
      return await inRounds(timeoutMs, () => {
        // Also when none was seen: one that moves on by fork and exit can be missed by a list, but not by the kernel.
        signals.kill(rows);
        rows = list();
        return rows.length === 0;
      });
    },
    gone: (timeoutMs) => inRounds(timeoutMs, () => list().length === 0),
  };
}

/** Goes on until a round says that it is done; says whether one did in time. */
async function inRounds(timeoutMs: number, round: (number: number) => boolean): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  for (let number = 0; !round(number); number += 1) {
    if (performance.now() > deadline) return false;
    await new Promise((resolve) => (number < ROUNDS_AT_ONCE ? setImmediate(resolve) : setTimeout(resolve, 1)));
  }
  return true;
}

/** The highest signal of Linux; a Python that was held has a handler for it (`hold/sitecustomize.py`). */
const FLUSH_SIGNAL = 64;

/** Signals only processes that have a handler: it would end the others. */
function askToFlush(rows: readonly ProcessRow[]): boolean {
  const asked = rows.filter(({ pid }) => handlesSignal(pid, FLUSH_SIGNAL));
  for (const { pid } of asked) signal(pid, FLUSH_SIGNAL);
  return asked.length > 0;
}

function signalAll(rows: readonly ProcessRow[], name: NodeJS.Signals): void {
  for (const row of rows) signal(row.pid, name);
}

function signal(pid: number, name: NodeJS.Signals | number): void {
  try {
    process.kill(pid, name);
  } catch {
    // It ended by itself, which is what the signal is for.
  }
}
