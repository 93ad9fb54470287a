import type { HostMessage, CancelReason, SandboxResult } from '../../protocol/messages/messages.ts';
import type { PreparedJob } from '../prepare/prepare-job.ts';
import { startClock } from '../../protocol/pausable-clock.ts';
import type { SandboxSession } from '../supply/sandbox-session.ts';

/** Time for a silent sandbox to hand over its result after the grace, in milliseconds. */
const HAND_OVER_MS = 3_000;
/** Time for a silent session to end after the grace, in milliseconds: it may have many processes to end. */
const END_MS = 15_000;
/** Maximum time beyond the job's clock for a sandbox that keeps sending, in milliseconds. */
const AFTER_CLOCK_MS = 30_000;

/** How a job in its sandbox ended, as the host sees it. */
export type Ending =
  | { kind: 'result'; result: SandboxResult }
  | { kind: 'fault'; error: Error }
  | { kind: 'closed'; error: Error | undefined }
  | { kind: 'overdue' };

/** The end of one job in its sandbox. The first ending counts. */
export interface JobEnding {
  readonly ended: Promise<Ending>;
  /** Why the host ended the job early; undefined if it did not. */
  readonly canceledFor: CancelReason | undefined;
  /** Aborted with the first reason to end the job early. */
  readonly signal: AbortSignal;
  settle(ending: Ending): void;
  /** Asks the sandbox to end its job, and waits for its result for a limited time. The first reason counts. */
  cancel(reason: CancelReason): void;
  /** The sandbox was told to end: if it stays silent from now on, its job is canceled with `timeout`. */
  awaitEnd(): void;
  /** Stops or restarts the job's clock. */
  setClock(running: boolean): void;
  /** Stops all clocks and removes the listener of the signal. */
  release(): void;
}

/** Starts the job's clock and follows its signal. */
export function createJobEnding({ limits }: PreparedJob, session: SandboxSession, signal: AbortSignal): JobEnding {
  const { promise: ended, resolve: settle } = Promise.withResolvers<Ending>();
  const controller = new AbortController();
  let canceledFor: CancelReason | undefined;
  let isEnding = false;
  let silence: NodeJS.Timeout | undefined;
  // A sandbox that was told to end is watched by `awaitEnd` instead.
  const clock = startClock(limits.jobTimeoutMs, () => {
    if (!isEnding) cancel('timeout');
  });

  /** Calls `end` after `ms`, or later as long as the sandbox still sends data, such as artifacts. */
  const afterSilence = (ms: number, end: () => void): void => {
    clearTimeout(silence);
    silence = setTimeout(() => {
      const isHeard = performance.now() - session.heardAt < HAND_OVER_MS;
      if (isHeard && clock.overdueMs < AFTER_CLOCK_MS) afterSilence(HAND_OVER_MS, end);
      else end();
    }, ms);
  };

  const cancel = (reason: CancelReason): void => {
    if (canceledFor !== undefined) return;
    canceledFor = reason;
    controller.abort(signal.aborted ? signal.reason : new Error(`The job is over: ${reason}.`));
    session.channel.send({ type: 'cancel', reason } satisfies HostMessage);
    afterSilence(limits.graceMs + HAND_OVER_MS, () => settle({ kind: 'overdue' }));
  };

  const onAbort = (): void => cancel('canceled');
  let released = false;
  signal.addEventListener('abort', onAbort, { once: true });
  return {
    ended,
    signal: controller.signal,
    get canceledFor() {
      return canceledFor;
    },
    settle,
    cancel,
    awaitEnd() {
      if (released || canceledFor !== undefined) return;
      isEnding = true;
      afterSilence(limits.graceMs + END_MS, () => cancel('timeout'));
    },
    setClock: (running) => clock.set(running),
    release() {
      released = true;
      clock.stop();
      clearTimeout(silence);
      signal.removeEventListener('abort', onAbort);
    },
  };
}
