/** The clock of the run that is under way. It stands still while the host asks someone whom the program waits for. */
export interface RunClock {
  set(running: boolean): void;
  /** Calls `onEnd` when the clock has run for so long. Returns how to stop it. */
  start(milliseconds: number, onEnd: () => void): () => void;
}

/** Creates the clock of one sandbox; it runs until it is told to stand still. */
export function createRunClock(): RunClock {
  let running = true;
  let onChange: (() => void) | undefined;
  return {
    set(next) {
      running = next;
      onChange?.();
    },
    start(milliseconds, onEnd) {
      let left = milliseconds;
      let since: number | undefined;
      let timer: NodeJS.Timeout | undefined;
      onChange = () => {
        clearTimeout(timer);
        if (since !== undefined) left -= performance.now() - since;
        since = running ? performance.now() : undefined;
        if (running) timer = setTimeout(onEnd, left);
      };
      onChange();
      return () => {
        onChange = undefined;
        clearTimeout(timer);
      };
    },
  };
}
