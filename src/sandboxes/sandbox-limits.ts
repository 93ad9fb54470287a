import type { SandboxLimits } from './runner.ts';

/** The limits of a job that hold from its sandbox's start on; all others belong to the job. */
export function sandboxLimits({ memoryMib, cpus, pids, workspaceMib, workspaceInodes }: SandboxLimits): SandboxLimits {
  return { memoryMib, cpus, pids, workspaceMib, workspaceInodes };
}
