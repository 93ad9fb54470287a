import type { Diagnostic } from '../../src/contracts/errors/diagnostic.ts';
import type { JobLimits } from '../../src/contracts/jobs/limits.ts';
import type { CancelReason } from '../../src/protocol/messages/messages.ts';
import { withinDeadline } from '../../src/protocol/within-deadline.ts';
import { undeliverable } from '../files/collect-artifacts.ts';
import { reopenFolder } from '../../src/protocol/files/reopen-folder.ts';
import type { UserProcesses } from '../sandbox/user-processes.ts';
import { contractVerdict, judge } from './judge-run.ts';
import { captureOutput, type OutputCapture } from './output-capture.ts';
import { type EndCause, type ProgramEnding, watchEnding } from './program/program-ending.ts';
import { readProgramError, readProgramValue } from './program/program-report.ts';
import type { RunInput, RunSurroundings } from './program/run-input.ts';
import type { RunOutcome } from './run-outcome.ts';
import { endDoubts } from './end-doubts.ts';
import { watchMemory } from './watch/memory-watch.ts';
import { startWatches } from './watch/run-watches.ts';
import { placeProgram, startProgram } from './program/start-program.ts';

/** Time in which the pipes of a dead program are still read. */
const PIPE_GRACE_MS = 250;
/** Time in which an interpreter may write its buffered output. */
const FLUSH_GRACE_MS = 250;
const KILL_TIMEOUT_MS = 5_000;
const MIB = 1024 * 1024;

/** Runs user code, ends all of its processes and returns the outcome. */
export async function runCode(input: RunInput, around: RunSurroundings): Promise<RunOutcome> {
  const { executor, limits } = input;
  const { layout, privileges } = around;
  privileges.restore();
  privileges.asUser(() => placeProgram(layout, input));
  // The program's clock starts with the program, not with its interpreter.
  await Promise.race([executor.waiting, executor.ended]);

  const ending = watchEnding(executor, around.calls, limits.calls);
  const capture = captureOutput(executor.stdout, executor.stderr, {
    keptBytes: limits.keptOutputBytes,
    totalBytes: limits.totalOutputBytes,
    onTotal: () => ending.because('output'),
    writers: input.writers,
  });
  const memory = watchMemory(around, limits.memoryMib * MIB);
  const stopWatching = watchRun(around, limits, ending);
  const started = performance.now();
  startProgram(input, around);

  const first = await ending.cause;
  // Memory is also the cause if the program exceeded it and then waited for its deadline.
  const cause = OWN_ENDS.has(first) && memory.wasOver() ? 'memory' : first;
  if (MAY_TIDY.has(first)) await askToEnd(around.processes, ending, limits.graceMs);
  memory.stop();
  stopWatching();
  ending.stopAnswering();
  input.stdin?.unpipe();
  const dead = await around.processes.killAll(KILL_TIMEOUT_MS);
  const runMs = performance.now() - started;
  await hearLastWords(ending);
  // At level none a process can hide. There only the end of the pipes shows that no process writes any more.
  const isGone = dead && layout.level !== 'none';
  const whole = await capture.finish(isGone ? 'gone' : 'any', PIPE_GRACE_MS);
  for (const stream of [executor.stdin, executor.messagesIn, executor.messagesOut]) stream.destroy();
  // The program's last output may be read only after its end.
  const judged = cause === 'itself' && capture.overTotal() ? 'output' : cause;
  return {
    ...gather(input, around, { ending, cause: judged, capture, found: endDoubts('program', dead, whole) }),
    runMs,
  };
}

/** Causes that may hide exceeded memory. */
const OWN_ENDS: ReadonlySet<EndCause> = new Set<EndCause>(['itself', 'run-deadline', 'timeout']);
/** Causes that the program may react to, within the grace period. */
const MAY_TIDY: ReadonlySet<EndCause> = new Set<EndCause>(['run-deadline', 'timeout', 'canceled']);

/** Ends the run when a watch finds a cause or the caller cancels. Returns a function that stops watching. */
function watchRun(around: RunSurroundings, limits: JobLimits, { because }: ProgramEnding): () => void {
  const { canceled } = around;
  const stop = startWatches(around, limits, because);
  const onCancel = (): void => because(canceled.reason as CancelReason);
  if (canceled.aborted) onCancel();
  canceled.addEventListener('abort', onCancel, { once: true });
  return () => {
    stop();
    canceled.removeEventListener('abort', onCancel);
  };
}

/** Lets a program write its buffered output, then tells it to end. Both take no longer than its grace. */
async function askToEnd(processes: UserProcesses, ending: ProgramEnding, graceMs: number): Promise<void> {
  const overdue = (): undefined => undefined;
  const started = performance.now();
  if (processes.flush()) {
    const flushed = Promise.race([ending.flushed, ending.over]);
    await withinDeadline(flushed, { limitMs: Math.min(graceMs, FLUSH_GRACE_MS), overdue });
  }
  processes.terminate();
  await withinDeadline(ending.over, { limitMs: Math.max(0, graceMs - (performance.now() - started)), overdue });
}

/** Waits for the program's last reports, which may still be in its pipe, and for its exit status, which comes a moment after a kill. */
async function hearLastWords({ saidAll, over }: ProgramEnding): Promise<void> {
  const overdue = (): undefined => undefined;
  await withinDeadline(saidAll, { limitMs: PIPE_GRACE_MS, overdue });
  await withinDeadline(over, { limitMs: KILL_TIMEOUT_MS, overdue });
}

/** Combines the reports, the output and the files of a finished run. */
function gather(
  input: RunInput,
  { layout, privileges }: RunSurroundings,
  run: { ending: ProgramEnding; cause: EndCause; capture: OutputCapture; found: Diagnostic[] },
): Omit<RunOutcome, 'runMs'> {
  const { process: end } = run.ending;
  const { limits } = input;
  const exitCode = end?.code ?? null;
  // The program continued after an error that it reported, so the error did not end it.
  const error = exitCode === 0 ? undefined : readProgramError(run.ending.error, input.fileName);
  const { value, missing } = privileges.asUser(() => {
    // A program may have removed the permissions of its own folders; their content is still its result.
    [layout.workspace, layout.value].forEach(reopenFolder);
    return {
      value: readProgramValue(run.ending.value, layout.value, limits.valueBytes),
      missing: undeliverable(layout.output, limits, input.expect),
    };
  });
  const verdict = judge(run.cause, exitCode, layout, limits);
  return {
    ...verdict,
    exitCode,
    signal: end?.signal ?? null,
    stdout: run.capture.stdout(),
    stderr: run.capture.stderr(),
    ...contractVerdict(verdict, error, missing),
    ...('value' in value ? { value: value.value } : {}),
    missing,
    diagnostics: [...run.found, ...value.diagnostics],
  };
}
