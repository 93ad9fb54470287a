import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SandboxUsage } from '../contracts/jobs/usage.ts';

/** Folders with the counters of one control group: the same folder for all in version 2, one per controller in version 1. */
export interface ControlGroupFolders {
  unified: boolean;
  memory: string;
  pids: string;
  cpu: string;
  cpuacct: string;
}

/** Reads the kernel's counters of one control group. Counters that the kernel lacks are null. */
export function readControlGroupUsage({ unified, memory, pids, cpu, cpuacct }: ControlGroupFolders): SandboxUsage {
  const cpuTime = unified ? counter(cpu, 'cpu.stat', 'usage_usec') : counter(cpuacct, 'cpuacct.usage');
  return {
    cpuMs: cpuTime === null ? null : cpuTime / (unified ? 1_000 : 1_000_000),
    maxRssBytes: counter(memory, unified ? 'memory.peak' : 'memory.max_usage_in_bytes'),
    oomKills: counter(memory, unified ? 'memory.events' : 'memory.oom_control', 'oom_kill'),
    pidsRefused: counter(pids, 'pids.events', 'max'),
  };
}

/**
 * The current memory of a group, counted like `docker stats`: without the inactive page cache, which the kernel reclaims first.
 */
export function readControlGroupMemory({
  unified,
  memory,
}: Pick<ControlGroupFolders, 'unified' | 'memory'>): number | null {
  const held = counter(memory, unified ? 'memory.current' : 'memory.usage_in_bytes');
  const cached = counter(memory, 'memory.stat', unified ? 'inactive_file' : 'total_inactive_file') ?? 0;
  return held === null ? null : Math.max(0, held - cached);
}

function counter(folder: string, file: string, key?: string): number | null {
  let text: string;
  try {
    text = readFileSync(join(folder, file), 'latin1');
  } catch {
    // The kernel does not count it, or the group no longer exists.
    return null;
  }
  const value = key === undefined ? text.trim() : `\n${text}`.split(`\n${key} `)[1]?.split('\n', 1)[0];
  return value === undefined || !/^\d+$/.test(value) ? null : Number(value);
}
