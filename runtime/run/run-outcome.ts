import type { JobResult } from '../../src/contracts/jobs/result.ts';
import type { SandboxResult } from '../../src/protocol/messages/messages.ts';
import type { MissingOutput } from '../../src/protocol/messages/missing-outputs.ts';

/** Result of one run of user code. */
export interface RunOutcome extends Pick<
  JobResult,
  'outcome' | 'limit' | 'exitCode' | 'signal' | 'stdout' | 'stderr' | 'error' | 'value' | 'diagnostics'
> {
  /** Calls that had an effect in this or an earlier run, one a line. */
  effects?: string[];
  /** Requests of this run that the rules of the network denied, a line a kind. */
  denials?: string[];
  /** Declared outputs that are not delivered. */
  missing: readonly MissingOutput[];
  /** Milliseconds from the start of user code to the end of its last process. */
  runMs: number;
}

/** The parts of an outcome that the host gets, of a program and of a cell. */
export function toldOutcome(
  outcome: RunOutcome,
): Pick<
  SandboxResult,
  'outcome' | 'limit' | 'exitCode' | 'signal' | 'stdoutBytes' | 'stderrBytes' | 'value' | 'error' | 'runMs'
> {
  return {
    outcome: outcome.outcome,
    ...(outcome.limit === undefined ? {} : { limit: outcome.limit }),
    exitCode: outcome.exitCode,
    signal: outcome.signal,
    stdoutBytes: outcome.stdout.bytes,
    stderrBytes: outcome.stderr.bytes,
    ...('value' in outcome ? { value: outcome.value } : {}),
    ...(outcome.error === undefined ? {} : { error: outcome.error }),
    runMs: outcome.runMs,
  };
}

/** Result of a job without a program run. */
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
