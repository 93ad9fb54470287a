import { readdirSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { currentOwner, ownerName } from '../../src/durable/owner.ts';
import { listControlGroups } from '../../src/sandboxes/local/control-group.ts';
import { until } from '../fixtures/until.ts';

/** Set in the flags of a thread of the kernel, and of nothing else. */
const PF_KTHREAD = 0x0020_0000;

/** What this process's sandboxes have left: processes (those that only wait to be reaped aside), groups and folders. */
async function leftNow(owner: string, known: ReadonlySet<number>): Promise<string[]> {
  const left = sandboxProcesses(owner)
    .filter((pid) => !known.has(pid))
    .map((pid) => `process ${pid} (${commandOf(pid)})`);
  for (const name of listControlGroups()) if (name.startsWith(owner)) left.push(`control group ${name}`);
  for (const name of await readdir(tmpdir())) if (name.startsWith(`skillcell-${owner}`)) left.push(`folder ${name}`);
  return left;
}

/**
 * Waits until nothing of this process's sandboxes is left.
 *
 * @param known processes that were there before
 * @returns what is left after `timeoutMs`, and how long it took
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
 * Processes that belong to sandboxes of an owner: by their control group, which no program can leave; by the mark in
 * their environment; or because they descend from this process.
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
    // Half of what a machine shows.
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

/** Processes anywhere on the machine whose command line or environment holds a text. The newest are looked at first: some live for a moment. */
export function processesWith(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .toSorted((a, b) => b - a)
    .filter((pid) => read(pid, 'cmdline').includes(text) || read(pid, 'environ').includes(text));
}

/**
 * Ends what an attack left on the host where nothing stopped it; fails where it left nothing. One look may miss a process:
 * while it becomes another program it has no command line.
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

/** One of the files that the kernel shows of a process; empty when it has ended, or belongs to someone else. */
export function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    // Ended between the listing and here, or not ours to read.
    return '';
  }
}

function commandOf(pid: number): string {
  return read(pid, 'cmdline').replaceAll('\0', ' ').slice(0, 120);
}
