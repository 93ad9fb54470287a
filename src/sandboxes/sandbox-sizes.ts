import type { SandboxLimits } from './runner.ts';

const MIB = 1024 * 1024;
/** The supervisor's share beside user code and its files. */
const SUPERVISOR_MIB = 64;
/** What a job may carry, and room for its folders. */
export const SKILLS_MIB = 72;

/**
 * MiB that a sandbox as a whole may hold. Files in memory count: workspace and temporary folder have a size each, and skills one; files
 * in /dev/shm are memory of the program. So all that can be written together stays below it.
 */
export function sandboxMemoryMib({ memoryMib, workspaceMib }: SandboxLimits): number {
  return memoryMib + 2 * workspaceMib + SKILLS_MIB + SUPERVISOR_MIB;
}

/** Bytes of the largest file that a program may write: one that fills its workspace, or shared memory of its own. */
export function largestFileBytes({ memoryMib, workspaceMib }: SandboxLimits): number {
  return Math.max(memoryMib, workspaceMib) * MIB;
}
