import type { JobResult } from '../../src/contracts/jobs/result.ts';
import type { MissingOutput } from '../../src/protocol/messages/missing-outputs.ts';

/** What one run of user code came to. */
export interface RunOutcome extends Pick<
  JobResult,
  'outcome' | 'limit' | 'exitCode' | 'signal' | 'stdout' | 'stderr' | 'error' | 'value' | 'diagnostics'
> {
  /** Calls that had an effect in this or an earlier run, a line each. */
  effects?: string[];
  /** Declared outputs that are not delivered. */
  missing: readonly MissingOutput[];
  /** Milliseconds from the start of user code to the end of its last process. */
  runMs: number;
}

/** What a job came to of which no program ran. */
export function emptyRun(expected: readonly string[]): RunOutcome {
  return {
    outcome: 'failed',
    exitCode: null,
    signal: null,
    stdout: { text: '', bytes: 0, truncated: false },
    stderr: { text: '', bytes: 0, truncated: false },
    missing: expected.map((path) => ({ path })),
    diagnostics: [],
    runMs: 0,
  };
}
