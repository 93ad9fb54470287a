import type { ProgramError } from '../../src/contracts/jobs/result.ts';
import type { EndCause } from './end-cause.ts';
import type { OutputCaptureOptions, OutputSource } from './output-capture.ts';
import type { ReadValue } from './program/program-report.ts';
import type { RunOutcome } from './run-outcome.ts';

/** The code of one run, as its frame `runCode` sees it: a program, or a cell in an interpreter that stays open. */
export interface RunSubject {
  /** Whether the interpreter can take another run afterwards. */
  lasts: boolean;
  output: Record<'stdout' | 'stderr', OutputSource>;
  writers: OutputCaptureOptions['writers'];
  /** Causes after which the code is asked to stop. After every other cause it is killed at once. */
  stoppable: ReadonlySet<EndCause>;
  /** Listens to the interpreter, and answers the calls of the code. */
  follow(because: (cause: EndCause) => void): void;
  /** Sends the code to its interpreter. */
  begin(): void;
  /** Asks the code to stop, and waits for that no longer than the grace. */
  askToStop(graceMs: number): Promise<void>;
  /** Whether user code holds or held more memory than allowed. */
  overMemory(): boolean;
  /** Whether the interpreter waits for another run. */
  readonly isIdle: boolean;
  /** Answers no further calls, and stops the watches of the subject. */
  unfollow(): void;
  /** Kills all processes of user code. Returns whether no process of them is left. */
  kill(): Promise<boolean>;
  /** Waits for the last reports of the code, and reads them. */
  report(end: RunEnd): Promise<RunReport>;
  /** Releases the handles of a killed interpreter. */
  release(): void;
}

/** The end of a run, as its frame sees it. */
export interface RunEnd {
  cause: EndCause;
  /** Whether the interpreter stays for another run. */
  isKept: boolean;
}

/** The reports of the code of a run. */
export interface RunReport extends Pick<RunOutcome, 'exitCode' | 'signal' | 'missing'> {
  error: ProgramError | undefined;
  /** Whether the code succeeded, if nothing else ended it. */
  succeeded: boolean;
  value: ReadValue;
}
