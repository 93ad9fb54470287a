import type { Diagnostic } from '../../src/contracts/diagnostic.ts';
import type { LimitName, Outcome, OutputText, ProgramError } from '../../src/contracts/result.ts';

/** What one run of user code came to. */
export interface RunOutcome {
  outcome: Outcome;
  limit?: LimitName;
  exitCode: number | null;
  signal: string | null;
  stdout: OutputText;
  stderr: OutputText;
  error?: ProgramError;
  /** The program's value, when it set one that is valid. */
  value?: unknown;
  /** Declared outputs that are not there. */
  missing: string[];
  diagnostics: Diagnostic[];
  /** Milliseconds from the start of user code to the end of its last process. */
  runMs: number;
}

/** What a job came to of which no program ran. */
export function emptyRun(missing: readonly string[]): RunOutcome {
  return {
    outcome: 'failed',
    exitCode: null,
    signal: null,
    stdout: { text: '', bytes: 0, truncated: false },
    stderr: { text: '', bytes: 0, truncated: false },
    missing: [...missing],
    diagnostics: [],
    runMs: 0,
  };
}
