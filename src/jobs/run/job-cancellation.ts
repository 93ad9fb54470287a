import { inspect } from 'node:util';

/** Cancellation of a job: by its caller's signal, by `cancel`, or by the end of the orchestrator. */
export interface JobCancellation {
  /** Aborted by the first reason. */
  readonly signal: AbortSignal;
  /** Reasons in the order of arrival. The first counts; the result shows the others as diagnostics. */
  readonly reasons: readonly string[];
  cancel(reason: unknown): void;
  /** Follows a caller's signal: its abort cancels the job with its reason. The returned function removes the listener. */
  follow(signal: AbortSignal | undefined): () => void;
}

/** Creates the cancellation of one job. */
export function createJobCancellation(): JobCancellation {
  const controller = new AbortController();
  const reasons: string[] = [];
  const cancel = (reason: unknown): void => {
    reasons.push(textOf(reason));
    controller.abort(new Error(`The job was canceled: ${reasons[0]}`));
  };
  return {
    signal: controller.signal,
    reasons,
    cancel,
    follow(signal) {
      if (signal === undefined) return () => undefined;
      const pass = (): void => cancel(signal.reason);
      if (signal.aborted) pass();
      else signal.addEventListener('abort', pass, { once: true });
      return () => signal.removeEventListener('abort', pass);
    },
  };
}

/** A reason may be any value: mostly an error, often a text. */
function textOf(reason: unknown): string {
  if (reason instanceof Error) return reason.message;
  if (typeof reason === 'string') return reason;
  try {
    return JSON.stringify(reason) ?? String(reason);
  } catch {
    // A cycle, a BigInt, or an object that throws.
    return inspect(reason, { breakLength: Number.POSITIVE_INFINITY });
  }
}
