/** Detects that a session was idle for too long. */
export interface IdleClock {
  readonly limitMs: number;
  start(): void;
  /** Stops the clock until the work ends. */
  during<T>(work: Promise<T>): Promise<T>;
  /** The returned function tells whether new work has begun since. */
  watch(): () => boolean;
  stop(): void;
}

/** Creates a clock that is stopped until `start`, and during work. `limitMs` is in milliseconds. */
export function createIdleClock(limitMs: number, onIdle: () => void): IdleClock {
  let timer: NodeJS.Timeout | undefined;
  let working = 0;
  let begun = 0;
  let stopped = false;
  const start = (): void => {
    clearTimeout(timer);
    if (!stopped && working === 0) timer = setTimeout(onIdle, limitMs);
  };
  return {
    limitMs,
    start,
    async during(work) {
      working += 1;
      begun += 1;
      clearTimeout(timer);
      try {
        return await work;
      } finally {
        working -= 1;
        start();
      }
    },
    watch() {
      const before = begun;
      return () => begun > before;
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
