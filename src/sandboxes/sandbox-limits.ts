import type { SandboxLimits } from './runner.ts';

/** The limits of a job that apply from the start of its sandbox on. */
export function sandboxLimits({ memoryMib, cpus, pids, workspaceMib, workspaceInodes }: SandboxLimits): SandboxLimits {
  return { memoryMib, cpus, pids, workspaceMib, workspaceInodes };
}
