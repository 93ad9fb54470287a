import { withinDeadline } from '../../protocol/within-deadline.ts';

/** Work that several wait for, each as long as its own signal says. */
export interface SharedWork<Result> {
  /**
   * Waits for the work.
   *
   * @throws what the work throws; the reason of the signal, which ends no other's waiting
   */
  join(signal: AbortSignal | undefined): Promise<Result>;
  /** When nothing of it is under way any more; never rejects. */
  readonly ended: Promise<void>;
}

/**
 * Starts work that is told to end when the last one who waits has gone.
 *
 * @param start is given the signal that says so
 * @param forget is called once nobody may join any more: it was given up, or it has failed
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
