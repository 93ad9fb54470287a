import { type Privileges, USER_UID } from './privileges.ts';
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

/** The processes of user code, started in any way. */
export interface UserProcesses {
  /** Lists the live processes, and the processes that hold their namespace. */
  list(): ProcessRow[];
  /** Asks user code to end. The processes that hold the namespace get no signal. */
  terminate(): void;
  /** Interrupts a process and its descendants, as a terminal does at Ctrl-C. */
  interrupt(pid: number): void;
  /** Asks interpreters to write their buffered output. Returns whether any interpreter was asked. */
  flush(): boolean;
  /** Kills until no process can run another instruction. Gives up after `timeoutMs`. */
  killAll(timeoutMs: number): Promise<boolean>;
  /** Waits until the kernel has freed the resources of killed processes. Gives up after `timeoutMs`. */
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
 * In a container: all processes with the id of user code. One call signals every process that exists at that moment, also a launcher
 * that still has uid 0; it spares only the first process and the caller.
 */
function containerProcesses({ asRoot, asUserFromNow }: Privileges): UserProcesses {
  const list = (): ProcessRow[] => listProcesses().filter((row) => isAlive(row) && realUid(row.pid) === USER_UID);
  return {
    list,
    // User code may live on after this signal, and the supervisor does not keep user code's id while it does.
    terminate: () => asRoot(() => signal(-1, 'SIGTERM')),
    interrupt: (pid) => asRoot(() => interruptTree(pid, list, signalAll)),
    flush: () => asRoot(() => askToFlush(list())),
    killAll: (timeoutMs) =>
      inRounds(timeoutMs, (round) => {
        // The account of user code may signal all processes of user code. The supervisor keeps that account, since the remaining work is on user code's files.
        if (round % ROUNDS_AT_ONCE === 0) asUserFromNow(() => signal(-1, 'SIGKILL'));
        // The kernel lets no fork pass such a kill, so no process is born after it, and a dying process runs no more code.
        return list().every(isExiting);
      }),
    gone: (timeoutMs) => inRounds(timeoutMs, () => list().length === 0),
  };
}

/**
 * At level namespace: all processes of this process namespace except the sandbox's first process and the entry.
 */
function namespaceProcesses(executorPid: () => number | undefined): UserProcesses {
  const list = (): ProcessRow[] =>
    listProcesses().filter((row) => row.pid !== 1 && row.pid !== process.pid && isAlive(row));
  return withKilling(list, {
    ask: (rows, name) =>
      signalAll(
        rows.filter((row) => (innerPid(row.pid) ?? 1) > 1),
        name,
      ),
    kill: (rows) => signalAll(rows, 'SIGKILL'),
    begin() {
      // The executor holds the namespace of its program, so the kernel ends that namespace while this function still looks for other processes.
      const pid = executorPid();
      if (pid !== undefined) signal(pid, 'SIGKILL');
    },
  });
}

/** At level none: the executor, its descendants, the processes that carry the job's marker, and their descendants. */
function markedProcesses(marker: string, executorPid: () => number | undefined): UserProcesses {
  const list = (): ProcessRow[] => {
    const rows = listProcesses().filter((row) => row.pid !== process.pid && isAlive(row));
    const roots = rows.filter((row) => hasEnvironmentEntry(row, marker)).map(({ pid }) => pid);
    return withDescendants(rows, [executorPid(), ...roots]);
  };
  return withKilling(list, {
    ask: signalAll,
    kill: (rows) => signalAll(rows, 'SIGKILL'),
  });
}

/** A killed program is gone after about a millisecond. Later rounds leave the processor to it. */
const ROUNDS_AT_ONCE = 20;

type SendSignal = (rows: readonly ProcessRow[], signal: NodeJS.Signals) => void;

interface Signals {
  ask: SendSignal;
  kill(rows: readonly ProcessRow[]): void;
  /** Called before the first look. */
  begin?(): void;
}

/** For levels where processes are killed one by one: kills all processes of the list until the list is empty. */
function withKilling(list: () => ProcessRow[], signals: Signals): UserProcesses {
  return {
    list,
    terminate: () => signals.ask(list(), 'SIGTERM'),
    interrupt: (pid) => interruptTree(pid, list, signals.ask),
    flush: () => askToFlush(list()),
    async killAll(timeoutMs) {
      signals.begin?.();
      let rows = list();
      return await inRounds(timeoutMs, () => {
        // This runs for an empty list as well: a list can miss a process that moves on by fork and exit, and the kernel cannot.
        signals.kill(rows);
        rows = list();
        return rows.length === 0;
      });
    },
    gone: (timeoutMs) => inRounds(timeoutMs, () => list().length === 0),
  };
}

/** The second look finds children that were born before their parent got the signal. */
function interruptTree(pid: number, list: () => ProcessRow[], send: SendSignal): void {
  const first = withDescendants(list(), [pid]);
  send(first, 'SIGINT');
  const known = new Set(first.map((row) => row.pid));
  send(
    withDescendants(list(), [pid]).filter((row) => !known.has(row.pid)),
    'SIGINT',
  );
}

function withDescendants(rows: readonly ProcessRow[], roots: readonly (number | undefined)[]): ProcessRow[] {
  const found = new Set(roots);
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
}

/** Repeats a round until it returns true. Returns whether that happened in time. */
async function inRounds(timeoutMs: number, round: (number: number) => boolean): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  for (let number = 0; !round(number); number += 1) {
    if (performance.now() > deadline) return false;
    await new Promise((resolve) => (number < ROUNDS_AT_ONCE ? setImmediate(resolve) : setTimeout(resolve, 1)));
  }
  return true;
}

/** The highest signal of Linux. A held Python has a handler for it (`hold/sitecustomize.py`). */
const FLUSH_SIGNAL = 64;

/** Signals only processes that have a handler: the signal would end the others. */
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
    // The process has ended already.
  }
}
