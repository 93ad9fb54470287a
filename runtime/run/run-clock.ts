import { type PausableClock, startClock } from '../../src/protocol/pausable-clock.ts';

/** The clock of the current run. It pauses while the host waits for an answer on behalf of the program. */
export interface RunClock {
  set(running: boolean): void;
  /** Calls `onEnd` after this much running time. Returns a function that stops the clock. */
  start(milliseconds: number, onEnd: () => void): () => void;
}

/** Creates the clock of one sandbox. A pause lasts from one run to the next. */
export function createRunClock(): RunClock {
  let running = true;
  let current: PausableClock | undefined;
  return {
    set(next) {
      running = next;
      current?.set(next);
    },
    start(milliseconds, onEnd) {
      const clock = (current = startClock(milliseconds, onEnd, running));
      return () => clock.stop();
    },
  };
}
