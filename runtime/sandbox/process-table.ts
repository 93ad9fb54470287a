import { readFileSync, readdirSync } from 'node:fs';

const PF_EXITING = 0x4;

/** One process as `/proc` shows it. */
export interface ProcessRow {
  pid: number;
  parent: number;
  /** One letter; `Z` and `X` are dead. */
  state: string;
  /** Whether its first thread has begun to exit. */
  exiting: boolean;
  threads: number;
  /** Resident memory in pages. */
  residentPages: number;
}

/** Lists the processes that this process can see. One that ends meanwhile is left out. */
export function listProcesses(): ProcessRow[] {
  const rows: ProcessRow[] = [];
  for (const name of readdirSync('/proc')) {
    const first = name.charCodeAt(0);
    if (first < 48 || first > 57) continue;
    const row = readProcess(Number(name));
    if (row !== undefined) rows.push(row);
  }
  return rows;
}

/** The fields from the state on. The name before it stands in brackets and may hold anything, brackets too. */
function statusFields(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** Set by the kernel before it takes a dying thread's memory and files away. */
function hasExitFlag(fields: readonly string[]): boolean {
  return (Number(fields[6]) & PF_EXITING) !== 0;
}

function readProcess(pid: number): ProcessRow | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    // Ended between the listing and here.
    return undefined;
  }
  const fields = statusFields(stat);
  return {
    pid,
    state: fields[0] ?? '?',
    parent: Number(fields[1]),
    exiting: hasExitFlag(fields),
    threads: Number(fields[17]),
    residentPages: Number(fields[21]),
  };
}

/** Bytes of one process, pages of several processes divided among them. */
export interface MemoryShare {
  anonymous: number;
  /** Shared memory, files in memory among it. */
  shared: number;
}

const NOTHING: MemoryShare = { anonymous: 0, shared: 0 };

/** A process's share of its memory but for files on disks; undefined where not told. */
export function memoryShare(pid: number): MemoryShare | undefined {
  try {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1');
    const [, anonymous] = /^Pss_Anon: +(\d+) kB$/m.exec(rollup) ?? [];
    const [, shared] = /^Pss_Shmem: +(\d+) kB$/m.exec(rollup) ?? [];
    if (anonymous === undefined || shared === undefined) return undefined;
    return { anonymous: Number(anonymous) * 1024, shared: Number(shared) * 1024 };
  } catch (error) {
    // One that shut itself off from being looked into tells nothing; one that is ending has given its memory back.
    return (error as NodeJS.ErrnoException).code === 'EACCES' ? undefined : NOTHING;
  }
}

/** Whether a process still runs; one that only waits to be reaped does not. Its first thread may end before the others. */
export function isAlive({ state, threads }: ProcessRow): boolean {
  return state !== 'X' && (state !== 'Z' || threads > 1);
}

/** Whether a process will not run another instruction of its program: each of its threads is past the kernel's point of no return. */
export function isExiting({ pid, exiting, threads }: ProcessRow): boolean {
  if (!exiting || threads === 1) return exiting;
  const folder = `/proc/${pid}/task`;
  try {
    return readdirSync(folder).every((thread) =>
      hasExitFlag(statusFields(readFileSync(`${folder}/${thread}/stat`, 'latin1'))),
    );
  } catch {
    // A thread ended between the listing and here; the caller looks again.
    return false;
  }
}

/** The last process id of `NSpid`, when the process is in a namespace below ours: 1 is that namespace's reaper. */
export function innerPid(pid: number): number | undefined {
  let status: string;
  try {
    status = readFileSync(`/proc/${pid}/status`, 'latin1');
  } catch {
    // Ended between the listing and here.
    return undefined;
  }
  const ids = /^NSpid:\s+(.*)$/m.exec(status)?.[1]?.split(/\s+/) ?? [];
  return ids.length > 1 ? Number(ids.at(-1)) : undefined;
}

/**
 * Whether the environment that a process was started with holds `entry`, a whole `NAME=value`. A first thread that has ended
 * shows none; then the others are asked.
 */
export function hasEnvironmentEntry({ pid, state, threads }: ProcessRow, entry: string): boolean {
  const environment = readEnvironment(`/proc/${pid}`);
  if (state !== 'Z' || threads === 1) return environment.includes(entry);
  return threadsOf(pid).some((thread) => readEnvironment(`/proc/${pid}/task/${thread}`).includes(entry));
}

function readEnvironment(folder: string): string[] {
  try {
    return readFileSync(`${folder}/environ`, 'latin1').split('\0');
  } catch {
    // Another user's process, or one that has just ended: in both cases none of this job's.
    return [];
  }
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    // It has ended.
    return [];
  }
}

/** Whether a process has a handler for a signal, by its number. gVisor does not tell, which counts as none. */
export function handlesSignal(pid: number, number: number): boolean {
  try {
    const mask = /^SigCgt:\s+([\da-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? '0';
    return ((BigInt(`0x${mask}`) >> BigInt(number - 1)) & 1n) === 1n;
  } catch {
    // Ended between the listing and here.
    return false;
  }
}

/** The real user id of a process; `undefined` when it has ended. The owner of its folder says less: it may be hidden. */
export function realUid(pid: number): number | undefined {
  try {
    const uid = /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    return uid === undefined ? undefined : Number(uid);
  } catch {
    // Ended between the listing and here.
    return undefined;
  }
}
