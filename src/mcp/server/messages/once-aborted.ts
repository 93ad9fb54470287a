/** Calls back when a signal aborts, and at once where it has: what came before anybody listened is not told again. */
export function onceAborted(signal: AbortSignal, callback: () => void): void {
  if (signal.aborted) callback();
  else signal.addEventListener('abort', callback, { once: true });
}
