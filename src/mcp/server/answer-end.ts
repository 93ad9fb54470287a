import type { ServerResponse } from 'node:http';

/** Aborts when an answer is over: all of it was sent, or its client is gone. */
export function answerEnd(response: ServerResponse): AbortSignal {
  const over = new AbortController();
  const end = (): void => over.abort(new Error('the answer is over'));
  if (response.closed) end();
  else response.once('close', end);
  return over.signal;
}
