import { setTimeout as delay } from 'node:timers/promises';

/** How a failed model request is tried again. */
export interface ModelRetryOptions {
  /** Requests in all. @default 4 */
  tries: number;
  /** Wait before the second request, in milliseconds; it doubles each time. @default 500 */
  baseDelayMs: number;
  /** Longest wait, whatever the service asks for, in milliseconds. @default 30,000 */
  maximumDelayMs: number;
}

/** The defaults of {@link ModelRetryOptions}. */
export const DEFAULT_MODEL_RETRY: ModelRetryOptions = { tries: 4, baseDelayMs: 500, maximumDelayMs: 30_000 };

/** Judges an error: whether another try helps, and how long the service asks to wait. */
export interface RetryVerdict {
  retry: boolean;
  /** From `Retry-After`, in milliseconds. */
  retryAfterMs?: number | undefined;
}

/**
 * Runs a request until it succeeds, the tries are used up, or no other try helps.
 *
 * @param request one request
 * @param judge what to make of its error
 * @param signal ends the waiting
 * @param options tries and delays
 * @returns what the request returned
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
 * The wait before the next try: what the service asks for, else exponential, with jitter, at most the maximum.
 *
 * @param attempt number of the try that failed, from 1
 * @param retryAfterMs what the service asks for
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
  // Jitter only lengthens what the service asked for, and only shortens our own guess.
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
