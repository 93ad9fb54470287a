import type { SandboxLimits } from './runner.ts';

const MIB = 1024 * 1024;
/** The supervisor's share of memory besides user code and its files. */
const SUPERVISOR_MIB = 64;
/** MiB for the skills of a job: at most 64 MiB of files, with room for their folders. */
export const SKILLS_MIB = 72;
/** The supervisor's share of processes and threads besides user code. */
export const SUPERVISOR_PIDS = 24;

/**
 * Memory limit of a whole sandbox in MiB. Files in memory count: the workspace, the temporary folder (the same size) and the skills. Files in
 * /dev/shm count as memory of the program. So a program cannot reach the limit by filling its file systems.
 */
export function sandboxMemoryMib({ memoryMib, workspaceMib }: SandboxLimits): number {
  return memoryMib + 2 * workspaceMib + SKILLS_MIB + SUPERVISOR_MIB;
}

/** Bytes of the largest file of a program: it may fill the workspace, or its shared memory. */
export function largestFileBytes({ memoryMib, workspaceMib }: SandboxLimits): number {
  return Math.max(memoryMib, workspaceMib) * MIB;
}
