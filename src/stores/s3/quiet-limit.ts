import { FaultyAnswer } from './s3-failure.ts';

/**
 * Ends work that nothing is heard of for a time, or that the caller withdraws.
 *
 * @param work gets a signal to end by, and what it calls whenever something came
 */
export async function withinQuiet<Result>(
  timeoutMs: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal, heard: () => void) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  let isQuiet = false;
  const timer = setTimeout(() => {
    isQuiet = true;
    controller.abort();
  }, timeoutMs);
  const withdraw = (): void => controller.abort();
  signal?.addEventListener('abort', withdraw);
  try {
    signal?.throwIfAborted();
    return await work(controller.signal, () => timer.refresh());
  } catch (error) {
    signal?.throwIfAborted();
    throw isQuiet ? new FaultyAnswer(`nothing for ${timeoutMs} ms`) : error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', withdraw);
  }
}
