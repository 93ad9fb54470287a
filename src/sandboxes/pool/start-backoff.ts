const FIRST_MS = 500;
const LONGEST_MS = 30_000;

/** The wait between starts that fail. */
export interface StartBackoff {
  /** Whether the next start has to wait. */
  readonly isWaiting: boolean;
  /** Whether the last start that ended has failed. */
  readonly isFailing: boolean;
  /** A start failed: the next one waits, twice as long as the one before. Starts that fail together count once. */
  failed(): void;
  /** A start went well: the next failure begins with the shortest wait. */
  succeeded(): void;
  /** Ends a wait now, if there is one. */
  end(): void;
  /** Ends a wait without its `onEnd`. */
  close(): void;
}

/**
 * Creates a wait of 0.5 s at first and 30 s at most.
 *
 * @param onEnd called when a wait is over
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
