import type { HostMessage, CancelReason, SandboxResult } from '../../protocol/messages/messages.ts';
import type { PreparedJob } from '../prepare/prepare-job.ts';
import { startClock } from '../../protocol/pausable-clock.ts';
import type { SandboxSession } from '../supply/sandbox-session.ts';

/** How long after the end of the grace a silent sandbox may take to hand its result over. */
const HAND_OVER_MS = 3_000;
/** How long after the end of the grace a session that was asked to end may be silent: it may have many processes to end. */
const END_MS = 15_000;
/** The most that a sandbox that keeps sending may take beyond the job's clock. */
const AFTER_CLOCK_MS = 30_000;

/** How the host's side of a run ended. */
export type Ending =
  | { kind: 'result'; result: SandboxResult }
  | { kind: 'fault'; error: Error }
  | { kind: 'closed'; error: Error | undefined }
  | { kind: 'overdue' };

/** The end of one run: what comes first settles it. */
export interface JobEnding {
  readonly ended: Promise<Ending>;
  /** Why the host ended the job early; undefined as long as it did not. */
  readonly canceledFor: CancelReason | undefined;
  /** Aborted with the first reason to end the job early. */
  readonly signal: AbortSignal;
  settle(ending: Ending): void;
  /** Asks the sandbox to end its job, and waits for its result only for a while. The first reason counts. */
  cancel(reason: CancelReason): void;
  /** The sandbox was told that its work is over: one that is silent from here on is asked to end its job. */
  awaitEnd(): void;
  /** Lets the job's clock stand still, or go on. */
  setClock(running: boolean): void;
  /** Stops the clocks for good, and the listening. */
  release(): void;
}

/** Starts the job's clock and follows its signal. */
export function createJobEnding({ limits }: PreparedJob, session: SandboxSession, signal: AbortSignal): JobEnding {
  const { promise: ended, resolve: settle } = Promise.withResolvers<Ending>();
  const controller = new AbortController();
  let canceledFor: CancelReason | undefined;
  let isEnding = false;
  let silence: NodeJS.Timeout | undefined;
  // A sandbox that was told to end has other clocks.
  const clock = startClock(limits.jobTimeoutMs, () => {
    if (!isEnding) cancel('timeout');
  });

  /** Calls `end` once the sandbox has been silent for `ms`; one that still hands its artifacts over is not silent. */
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
