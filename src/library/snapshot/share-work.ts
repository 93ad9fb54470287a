import { withinDeadline } from '../../protocol/within-deadline.ts';

/** Work that several callers wait for, each with its own signal. */
export interface SharedWork<Result> {
  /**
   * Waits for the work.
   *
   * @throws the error of the work; the reason of the signal, which does not affect other callers
   */
  join(signal: AbortSignal | undefined): Promise<Result>;
  /** Settles when the work has ended; never rejects. */
  readonly ended: Promise<void>;
}

/**
 * Starts work that is aborted when its last caller has gone.
 *
 * @param start gets the signal of this abort
 * @param forget is called once no further caller may join: the work was aborted, or has failed
 */
export function shareWork<Result>(
  start: (signal: AbortSignal) => Promise<Result>,
  forget: () => void,
): SharedWork<Result> {
  const givenUp = new AbortController();
  const result = start(givenUp.signal);
  let waiting = 0;
  let isOver = false;
  const ended = result.then(
    () => void (isOver = true),
    () => {
      isOver = true;
      forget();
    },
  );
  return {
    ended,
    async join(signal) {
      waiting += 1;
      try {
        return await withinDeadline(result, { signal });
      } finally {
        waiting -= 1;
        if (waiting === 0 && !isOver) {
          forget();
          givenUp.abort(signal?.reason);
        }
      }
    },
  };
}
