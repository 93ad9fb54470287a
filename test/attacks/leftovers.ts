import { readdirSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { currentOwner, ownerName } from '../../src/durable/owner.ts';
import { listControlGroups } from '../../src/sandboxes/local/control-group.ts';
import { until } from '../fixtures/until.ts';

/** Set only in the flags of kernel threads. */
const PF_KTHREAD = 0x0020_0000;

/** Remains of this process's sandboxes: processes (except zombies), groups and folders. */
async function leftNow(owner: string, known: ReadonlySet<number>): Promise<string[]> {
  const left = sandboxProcesses(owner)
    .filter((pid) => !known.has(pid))
    .map((pid) => `process ${pid} (${commandOf(pid)})`);
  for (const name of listControlGroups()) if (name.startsWith(owner)) left.push(`control group ${name}`);
  for (const name of await readdir(tmpdir())) if (name.startsWith(`skillcell-${owner}`)) left.push(`folder ${name}`);
  return left;
}

/**
 * Waits until no remains of this process's sandboxes exist.
 *
 * @param known processes that existed before
 * @returns the remains after `timeoutMs`, and the duration
 */
export async function awaitNothingLeft(
  timeoutMs: number,
  known: ReadonlySet<number>,
): Promise<{ left: string[]; tookMs: number }> {
  const owner = ownerName(currentOwner());
  const started = performance.now();
  for (;;) {
    const left = await leftNow(owner, known);
    const tookMs = performance.now() - started;
    if (left.length === 0 || tookMs > timeoutMs) return { left, tookMs };
    await pause(20);
  }
}

/**
 * Processes of an owner's sandboxes: by their control group, which no program can leave; by the mark in their environment; or as descendants of this
 * process.
 */
export function sandboxProcesses(owner: string = ownerName(currentOwner())): number[] {
  const parents = new Map<number, number>();
  const found: number[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const pid = Number(name);
    const stat = read(pid, 'stat');
    const [state, parent, , , , , flags] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === undefined || state === 'Z' || state === 'X') continue;
    // Kernel threads are half of a machine's processes.
    if ((Number(flags) & PF_KTHREAD) !== 0) continue;
    parents.set(pid, Number(parent));
    if (read(pid, 'cgroup').includes(`/skillcell/${owner}`)) found.push(pid);
    else if (read(pid, 'environ').includes(`SKILLCELL_JOB_MARK=${owner}`)) found.push(pid);
  }
  for (const pid of parents.keys()) {
    for (let at = parents.get(pid); at !== undefined && at > 1; at = parents.get(at)) {
      if (at === process.pid && !found.includes(pid)) found.push(pid);
    }
  }
  return found;
}

/** Processes anywhere on the machine whose command line or environment contains a text. The newest come first, since some live briefly. */
export function processesWith(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .toSorted((a, b) => b - a)
    .filter((pid) => read(pid, 'cmdline').includes(text) || read(pid, 'environ').includes(text));
}

/**
 * Kills the processes that an unhindered attack left on the host; fails if it left none. One look may miss a process: during an exec it has no
 * command line.
 */
export async function endThoseWith(text: string): Promise<void> {
  let found: number[] = [];
  await until(() => (found = processesWith(text)).length > 0, `a process with ${text}`);
  for (const pid of found) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended by itself.
    }
  }
}

/** A file of a process in /proc; empty if the process has ended, or belongs to another user. */
export function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    // Ended between the listing and here, or not readable for this user.
    return '';
  }
}

function commandOf(pid: number): string {
  return read(pid, 'cmdline').replaceAll('\0', ' ').slice(0, 120);
}
