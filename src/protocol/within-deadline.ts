/** How long a wait may take, and what it comes to then; without a limit only an abort ends it. */
export type Deadline<T> = (
  | {
      limitMs: number;
      /** What the wait gives, or the error that it throws, when the limit passes. */
      overdue(): T;
    }
  | { limitMs?: undefined; overdue?: undefined }
) & {
  /** Ends the wait early, with its reason. */
  signal?: AbortSignal | undefined;
};

/**
 * Waits for a step, but not longer than its deadline and not beyond an abort. The first of the three counts; the step itself
 * goes on, and how it ends later is of no interest any more.
 *
 * @throws what the step throws, what `overdue` throws, or the reason of the abort
 */
export async function withinDeadline<T>(
  step: T | PromiseLike<T>,
  { limitMs, overdue, signal }: Deadline<T>,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const stop = (): void => reject(signal?.reason as Error);
  // Asynchronous, so that what it throws becomes the end of the wait.
  const late = async (): Promise<void> => resolve(overdue?.() as T);
  const timer = limitMs === undefined ? undefined : setTimeout(() => void late().catch(reject), limitMs);
  // The abort comes first: work that was started for something that is over never wins.
  if (signal?.aborted === true) stop();
  signal?.addEventListener('abort', stop, { once: true });
  // A callback of the caller's may give its answer at once.
  Promise.resolve(step).then(resolve, reject);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}
