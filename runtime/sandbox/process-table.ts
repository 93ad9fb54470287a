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

/** Lists the processes that this process can see, without those that end meanwhile. */
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

/** The fields from the state on. The name before the state stands in brackets and may hold any character, also brackets. */
function statusFields(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** The kernel sets this flag before it frees the memory and files of a dying thread. */
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

/** Bytes of one process. A page that several processes share is divided among them. */
export interface MemoryShare {
  anonymous: number;
  /** Shared memory, which includes files in memory. */
  shared: number;
}

const NOTHING: MemoryShare = { anonymous: 0, shared: 0 };

/** A process's share of its memory, without files on disks. `undefined` where the kernel does not tell. */
export function memoryShare(pid: number): MemoryShare | undefined {
  try {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1');
    const [, anonymous] = /^Pss_Anon: +(\d+) kB$/m.exec(rollup) ?? [];
    const [, shared] = /^Pss_Shmem: +(\d+) kB$/m.exec(rollup) ?? [];
    if (anonymous === undefined || shared === undefined) return undefined;
    return { anonymous: Number(anonymous) * 1024, shared: Number(shared) * 1024 };
  } catch (error) {
    // A process that is not dumpable refuses to be read; a process that is ending has freed its memory.
    return (error as NodeJS.ErrnoException).code === 'EACCES' ? undefined : NOTHING;
  }
}

/** Whether a process still runs. A zombie that waits to be reaped does not; a process of which only the first thread has ended does. */
export function isAlive({ state, threads }: ProcessRow): boolean {
  return state !== 'X' && (state !== 'Z' || threads > 1);
}

/** Whether a process runs no further instruction of its program: the kernel has begun to end each of its threads. */
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

/** The process id in a namespace below this process's own, from the end of `NSpid`; 1 is the reaper of that namespace. */
export function innerPid(pid: number): number | undefined {
  const ids = statusField(pid, 'NSpid')?.split(/\s+/) ?? [];
  return ids.length > 1 ? Number(ids.at(-1)) : undefined;
}

/**
 * Whether the environment of a process's start holds `entry`, a whole `NAME=value`. A first thread that has ended shows no environment,
 * so the other threads are read.
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
    // Another user's process, or a process that has just ended: neither belongs to this job.
    return [];
  }
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    // The process has ended.
    return [];
  }
}

/** Whether a process has a handler for the signal of this number. gVisor does not tell, which counts as no handler. */
export function handlesSignal(pid: number, number: number): boolean {
  const mask = statusField(pid, 'SigCgt') ?? '0';
  return ((BigInt(`0x${mask}`) >> BigInt(number - 1)) & 1n) === 1n;
}

/** The real user id of a process; `undefined` when the process has ended. The owner of its `/proc` folder may differ, since a process can hide it. */
export function realUid(pid: number): number | undefined {
  const uid = statusField(pid, 'Uid')?.split(/\s+/)[0];
  return uid === undefined ? undefined : Number(uid);
}

/** A line of `/proc/<pid>/status` without its name; `undefined` when the process has ended, or the kernel has no such line. */
function statusField(pid: number, name: string): string | undefined {
  let status: string;
  try {
    status = readFileSync(`/proc/${pid}/status`, 'latin1');
  } catch {
    // The process ended between the listing and here.
    return undefined;
  }
  const line = status.split('\n').find((each) => each.startsWith(`${name}:`));
  return line?.slice(name.length + 1).trim();
}
