import { outgoingUnavailable } from './outgoing-refused.ts';

/** Deadline of a request with its redirects and its whole answer. */
export interface RequestClock {
  /** Aborts with the error of the request. */
  signal: AbortSignal;
  stop(): void;
}

/** Starts the deadline. The first of deadline and abort counts. */
export function startRequestClock(limitMs: number, shown: string, outer: AbortSignal | undefined): RequestClock {
  const own = new AbortController();
  const timer = setTimeout(
    () => own.abort(outgoingUnavailable(`it gave no complete answer within ${limitMs} ms`, shown)),
    limitMs,
  );
  const abort = (): void => own.abort(outer?.reason);
  if (outer?.aborted === true) abort();
  outer?.addEventListener('abort', abort, { once: true });
  return {
    signal: own.signal,
    stop() {
      clearTimeout(timer);
      outer?.removeEventListener('abort', abort);
    },
  };
}
