import type { JobLimits } from '../../../src/contracts/jobs/limits.ts';
import { watchWorkspace, type WorkspaceLimits } from '../../files/workspace-usage.ts';
import type { SandboxLayout } from '../../sandbox/sandbox-layout.ts';
import type { EndCause } from '../program/program-ending.ts';
import type { RunClock } from '../run-clock.ts';

const MIB = 1024 * 1024;

/** Watches the run's time, and the workspace if no kernel limit holds it. Returns a function that stops it. */
export function startWatches(
  { layout, clock }: { layout: SandboxLayout; clock: RunClock },
  limits: JobLimits,
  finish: (cause: EndCause) => void,
): () => void {
  const stops = [clock.start(limits.runTimeoutMs, () => finish('run-deadline')), watchFolders(layout, limits, finish)];
  return () => stops.forEach((stop) => stop());
}

/** Watches the folders of user code if no kernel limit holds them. Returns a function that stops it. */
export function watchFolders(
  layout: SandboxLayout,
  limits: JobLimits,
  onOver: (limit: 'workspace' | 'inodes') => void,
): () => void {
  if (!layout.watchWorkspace) return () => undefined;
  return watchWorkspace([layout.workspace, layout.temporary], workspaceLimits(limits), onOver);
}

/** The limits of the workspace. */
export function workspaceLimits(limits: JobLimits): WorkspaceLimits {
  return { bytes: limits.workspaceMib * MIB, inodes: limits.workspaceInodes };
}
