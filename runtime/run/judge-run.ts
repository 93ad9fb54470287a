import type { JobLimits } from '../../src/contracts/jobs/limits.ts';
import type { LimitName, ProgramError } from '../../src/contracts/jobs/result.ts';
import { type MissingOutput, missingError } from '../../src/protocol/messages/missing-outputs.ts';
import { exceededLimit, exhaustedFileSystem, type WorkspaceLimits } from '../files/workspace-usage.ts';
import type { SandboxLayout } from '../sandbox/sandbox-layout.ts';
import type { EndCause } from './end-cause.ts';
import type { RunOutcome } from './run-outcome.ts';

const MIB = 1024 * 1024;

/** The verdict on a run before the check of its declared outputs. */
export type Verdict = Pick<RunOutcome, 'outcome' | 'limit' | 'error'>;

/**
 * The verdict for the cause of an end.
 *
 * @param succeeded whether code that ended by itself has succeeded
 */
export function judge(cause: EndCause, succeeded: boolean, layout: SandboxLayout, limits: JobLimits): Verdict {
  switch (cause) {
    case 'run-deadline':
      return { outcome: 'timeout', error: clockError('RunTimeout', 'The program', limits.runTimeoutMs) };
    case 'timeout':
      return { outcome: 'timeout', error: clockError('JobTimeout', 'The job', limits.jobTimeoutMs) };
    case 'canceled':
      return { outcome: 'canceled' };
    case 'memory':
      return { outcome: 'out_of_memory' };
    case 'output':
    case 'workspace':
    case 'inodes':
    case 'calls':
    case 'network':
      return { outcome: 'limit', limit: cause };
    case 'itself': {
      // A fast program may exceed a watched limit and end between two checks.
      const over = layout.watchWorkspace
        ? exceededLimit([layout.workspace, layout.temporary], workspaceLimits(limits))
        : undefined;
      if (over !== undefined) return { outcome: 'limit', limit: over };
      if (succeeded) return { outcome: 'succeeded' };
      const full: LimitName | undefined = layout.watchWorkspace ? undefined : exhaustedFileSystem(layout.workspace);
      return full === undefined ? { outcome: 'failed' } : { outcome: 'limit', limit: full };
    }
  }
}

/** The limits of the workspace. */
export function workspaceLimits(limits: JobLimits): WorkspaceLimits {
  return { bytes: limits.workspaceMib * MIB, inodes: limits.workspaceInodes };
}

/** The program's own error has priority. A run without its declared outputs has failed. */
export function contractVerdict(
  verdict: Verdict,
  error: ProgramError | undefined,
  missing: readonly MissingOutput[],
): Partial<RunOutcome> {
  if (verdict.error !== undefined) return {};
  if (error !== undefined) return { error };
  if (verdict.outcome !== 'succeeded' || missing.length === 0) return {};
  return { outcome: 'failed', error: missingError(missing) };
}

function clockError(name: string, what: string, milliseconds: number): ProgramError {
  return { name, message: `${what} took longer than ${milliseconds / 1000} s.`, stack: '' };
}
