const FIRST_MS = 500;
const LONGEST_MS = 30_000;

/** The backoff between failing starts. */
export interface StartBackoff {
  /** True if the next start must wait. */
  readonly isWaiting: boolean;
  /** True if the last ended start failed. */
  readonly isFailing: boolean;
  /** Reports a failed start: the next start waits, twice as long as before. Failures during a wait count once. */
  failed(): void;
  /** Reports a successful start: the next failure begins with the shortest wait. */
  succeeded(): void;
  /** Ends the wait now, if there is one. */
  end(): void;
  /** Ends a wait without its `onEnd`. */
  close(): void;
}

/**
 * Creates a backoff of 0.5 s at first and 30 s at most.
 *
 * @param onEnd called at the end of each wait
 */
export function createStartBackoff(onEnd: () => void): StartBackoff {
  let waitMs = 0;
  let timer: NodeJS.Timeout | undefined;
  const close = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  const end = (): void => {
    if (timer === undefined) return;
    close();
    onEnd();
  };
  return {
    get isWaiting() {
      return timer !== undefined;
    },
    get isFailing() {
      return waitMs > 0;
    },
    failed() {
      if (timer !== undefined) return;
      waitMs = Math.min(LONGEST_MS, Math.max(FIRST_MS, waitMs * 2));
      timer = setTimeout(end, waitMs).unref();
    },
    succeeded() {
      waitMs = 0;
    },
    end,
    close,
  };
}
