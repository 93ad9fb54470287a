/** Limit of a wait, and its outcome at the limit. Without a limit, only an abort ends the wait. */
export type Deadline<T> = (
  | {
      limitMs: number;
      /** Gives the result, or throws the error, when the limit passes. */
      overdue(): T;
    }
  | { limitMs?: undefined; overdue?: undefined }
) & {
  /** Ends the wait early, with its reason. */
  signal?: AbortSignal | undefined;
};

/**
 * Waits for a step until its deadline or an abort; the first of the three counts. The step itself continues, and its later outcome is
 * ignored.
 *
 * @throws the error of the step or of `overdue`, or the reason of the abort
 */
export async function withinDeadline<T>(
  step: T | PromiseLike<T>,
  { limitMs, overdue, signal }: Deadline<T>,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const stop = (): void => reject(signal?.reason as Error);
  // Asynchronous, so that an error of `overdue` rejects the wait.
  const late = async (): Promise<void> => resolve(overdue?.() as T);
  const timer = limitMs === undefined ? undefined : setTimeout(() => void late().catch(reject), limitMs);
  // The abort is checked first, so that it wins over a step that is already settled.
  if (signal?.aborted === true) stop();
  signal?.addEventListener('abort', stop, { once: true });
  // The step may be a plain value.
  Promise.resolve(step).then(resolve, reject);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}
