import { setTimeout as delay } from 'node:timers/promises';

/** Retries of a failed model request. */
export interface ModelRetryOptions {
  /** Most requests in total. @default 4 */
  tries: number;
  /** Wait before the second request, in milliseconds; it doubles each time. @default 500 */
  baseDelayMs: number;
  /** Longest wait, even if the service asks for more, in milliseconds. @default 30,000 */
  maximumDelayMs: number;
}

/** The defaults of {@link ModelRetryOptions}. */
export const DEFAULT_MODEL_RETRY: ModelRetryOptions = { tries: 4, baseDelayMs: 500, maximumDelayMs: 30_000 };

/** Verdict on an error: whether another try may help, and the wait that the service asks for. */
export interface RetryVerdict {
  retry: boolean;
  /** From `Retry-After`, in milliseconds. */
  retryAfterMs?: number | undefined;
}

/**
 * Repeats a request until it succeeds, the tries are used up, or another try cannot help.
 *
 * @param request one request
 * @param judge judges its error
 * @param signal ends the waiting
 * @param options tries and delays
 * @returns the result of the request
 * @throws the signal's reason once it is aborted, else the last error
 */
export async function retryModelRequest<T>(
  request: () => Promise<T>,
  judge: (error: unknown) => RetryVerdict,
  signal: AbortSignal,
  options: ModelRetryOptions,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    signal.throwIfAborted();
    let wait: number;
    try {
      return await request();
    } catch (error) {
      signal.throwIfAborted();
      const verdict = judge(error);
      if (!verdict.retry || attempt >= options.tries) throw error;
      wait = retryDelayMs(attempt, verdict.retryAfterMs, options);
    }
    // An abort ends the wait early; the check at the top of the loop then throws its reason.
    await delay(wait, undefined, { signal }).catch(() => undefined);
  }
}

/**
 * Returns the wait before the next try: the wait that the service asks for, else exponential backoff; with jitter, at most
 * the maximum.
 *
 * @param attempt number of the try that failed, from 1
 * @param retryAfterMs wait that the service asks for, in milliseconds
 * @param options base and maximum
 * @param random between 0 and 1
 * @returns milliseconds
 */
export function retryDelayMs(
  attempt: number,
  retryAfterMs: number | undefined,
  options: ModelRetryOptions,
  random: number = Math.random(),
): number {
  // Jitter only lengthens the wait of the service, and only shortens our own.
  if (retryAfterMs !== undefined) return Math.min(retryAfterMs + random * options.baseDelayMs, options.maximumDelayMs);
  return Math.min(options.baseDelayMs * 2 ** (attempt - 1), options.maximumDelayMs) * (0.5 + random / 2);
}

/**
 * Reads `retry-after-ms` and `Retry-After` (seconds or an HTTP date, RFC 9110 §10.2.3).
 *
 * @param headers of the response, names in lower case
 * @param now milliseconds since the epoch
 * @returns milliseconds from now, not negative; undefined without a usable header
 */
export function readRetryAfter(
  headers: Readonly<Record<string, string>> | undefined,
  now: number = Date.now(),
): number | undefined {
  const milliseconds = headers?.['retry-after-ms'];
  if (milliseconds !== undefined && /^\d+(\.\d+)?$/.test(milliseconds)) return Number(milliseconds);
  const after = headers?.['retry-after'];
  if (after === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(after)) return Number(after) * 1000;
  const date = Date.parse(after);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
