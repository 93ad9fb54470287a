import { type Diagnostic, diagnostic } from '../../src/contracts/errors/diagnostic.ts';
import type { JobLimits } from '../../src/contracts/jobs/limits.ts';
import { watchWorkspace } from '../files/workspace-usage.ts';
import type { SandboxLayout } from '../sandbox/sandbox-layout.ts';
import { createFirstCause, type EndCause, type FirstCause } from './end-cause.ts';
import type { JobSurroundings } from './job-surroundings.ts';
import { contractVerdict, judge, workspaceLimits } from './judge-run.ts';
import { captureOutput, type Writers } from './output-capture.ts';
import type { RunOutcome } from './run-outcome.ts';
import type { RunSubject } from './run-subject.ts';

/** Time in which the pipes of a dead program are still read. */
export const PIPE_GRACE_MS = 250;

/** Causes that may hide exceeded memory. */
const OWN_ENDS: ReadonlySet<EndCause> = new Set<EndCause>(['itself', 'run-deadline', 'timeout']);

/** The parts of the sandbox that every run needs. */
type RunSurroundings = Pick<JobSurroundings, 'layout' | 'clock' | 'canceled'>;

/**
 * Runs user code until the first cause ends it: within its limits, then within its grace if it may stop by itself. Then all processes of user code are
 * killed, unless the interpreter stays for another run.
 *
 * @param first the cause of the end, if the caller may name one as well
 */
export async function runCode(
  subject: RunSubject,
  limits: JobLimits,
  around: RunSurroundings,
  first: FirstCause = createFirstCause(),
): Promise<{ outcome: RunOutcome; isKept: boolean }> {
  const capture = captureOutput(subject.output.stdout, subject.output.stderr, {
    keptBytes: limits.keptOutputBytes,
    totalBytes: limits.totalOutputBytes,
    onTotal: () => first.resolve('output'),
    writers: subject.writers,
    stays: subject.lasts,
  });
  subject.follow(first.resolve);
  const stopWatching = startWatches(around, limits, first.resolve);
  const started = performance.now();
  // A run that is stopped before its start never begins.
  if (first.known === undefined) subject.begin();

  const named = await first.promise;
  const blamed = (): EndCause => (OWN_ENDS.has(named) && subject.overMemory() ? 'memory' : named);
  let cause = blamed();
  if (subject.stoppable.has(named)) {
    await subject.askToStop(limits.graceMs);
    // The memory of a program ends with it. Memory that an interpreter took within the grace would count for its next run.
    if (subject.lasts) cause = blamed();
  }
  const isKept = subject.isIdle && (cause === 'itself' || subject.stoppable.has(cause));
  stopWatching();
  subject.unfollow();
  const isDead = isKept || (await subject.kill());
  const runMs = performance.now() - started;
  // At level none a process can hide. There only the end of the pipes shows that no process writes any more.
  const isGone = isKept || (isDead && around.layout.level !== 'none');
  const writers: Writers = isKept && named === 'itself' ? 'done' : isGone ? 'gone' : 'any';
  const isWhole = await capture.finish(writers, PIPE_GRACE_MS);
  // The last output of the code may be read only after its end.
  if (cause === 'itself' && capture.overTotal()) cause = 'output';
  const { exitCode, signal, error, missing, succeeded, value } = await subject.report({ cause, isKept });
  if (!isKept) subject.release();
  const verdict = judge(cause, succeeded, around.layout, limits);
  const outcome: RunOutcome = {
    ...verdict,
    exitCode,
    signal,
    stdout: capture.stdout(),
    stderr: capture.stderr(),
    ...contractVerdict(verdict, error, missing),
    ...('value' in value ? { value: value.value } : {}),
    missing,
    diagnostics: [...endDoubts(subject, isDead, isWhole), ...value.diagnostics],
    runMs,
  };
  return { outcome, isKept };
}

/** Names a cause when time is up, the workspace is too large or the job is canceled. Returns a function that stops the watches. */
function startWatches(
  { layout, clock, canceled }: RunSurroundings,
  limits: JobLimits,
  because: (cause: EndCause) => void,
): () => void {
  const stops = [
    clock.start(limits.runTimeoutMs, () => because('run-deadline')),
    watchFolders(layout, limits, because),
  ];
  const cancel = (): void => because(canceled.reason as EndCause);
  if (canceled.aborted) cancel();
  canceled.addEventListener('abort', cancel, { once: true });
  stops.push(() => canceled.removeEventListener('abort', cancel));
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

/**
 * Diagnostics of doubts after the end of a run.
 *
 * @param isDead whether all processes ended in time
 * @param isWhole whether the pipes of the output ended
 */
function endDoubts({ lasts }: RunSubject, isDead: boolean, isWhole: boolean): Diagnostic[] {
  const left = `Some processes of the ${lasts ? 'session' : 'program'} could not be ended in time; they end with the sandbox.`;
  const open = 'More output may follow: a process that was not found or did not end in time still held its pipe.';
  return [
    ...(isDead ? [] : [diagnostic('processes.left', left)]),
    ...(isWhole ? [] : [diagnostic('output.incomplete', open)]),
  ];
}
