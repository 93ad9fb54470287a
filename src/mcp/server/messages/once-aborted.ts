/** Calls back when a signal aborts, or at once if it has aborted: a late listener would not be called. */
export function onceAborted(signal: AbortSignal, callback: () => void): void {
  if (signal.aborted) callback();
  else signal.addEventListener('abort', callback, { once: true });
}
