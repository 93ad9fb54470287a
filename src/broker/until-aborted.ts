/**
 * Settles with the promise, or rejects with the signal's reason as soon as it is aborted, whatever the promise does.
 *
 * @param promise work that may ignore its signal
 * @param signal ends the wait
 * @returns the promise's value
 */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let abort = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(signal.reason as Error);
  });
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    // The abort comes first: work that was started for a job that is over never wins.
    return await Promise.race([aborted, promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
