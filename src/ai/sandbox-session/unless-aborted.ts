/**
 * Does something, and gives up with the signal's reason once that is aborted. What was asked of the sandbox by then goes on to its end.
 *
 * @param work gets a signal that is aborted as well
 */
export async function unlessAborted<T>(
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const own = new AbortController();
  if (signal === undefined) return await work(own.signal);
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => {
    own.abort(signal.reason);
    // oxlint-disable-next-line prefer-promise-reject-errors -- as the caller's own reason is
    reject(signal.reason);
  };
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work(own.signal), aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
