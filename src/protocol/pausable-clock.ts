/** A timer that can be paused. */
export interface PausableClock {
  /** Resumes or pauses the clock. A stopped clock ignores it. */
  set(running: boolean): void;
  /** Milliseconds since the limit passed; negative before it, and never positive while the clock is paused. */
  readonly overdueMs: number;
  /** Stops the clock for good. */
  stop(): void;
}

/**
 * Starts a clock that calls `onEnd` once it has run for `limitMs`.
 *
 * @param running false for a clock that starts paused
 */
export function startClock(limitMs: number, onEnd: () => void, running = true): PausableClock {
  let left = limitMs;
  let since: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const set = (next: boolean): void => {
    if (stopped || next === (since !== undefined)) return;
    clearTimeout(timer);
    const now = performance.now();
    if (since !== undefined) left -= now - since;
    since = next ? now : undefined;
    if (next) timer = setTimeout(onEnd, left);
  };
  set(running);
  return {
    set,
    get overdueMs() {
      return since === undefined ? Math.min(0, -left) : performance.now() - since - left;
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
