/** Limits the number of running calls of one job, and the size of the queue behind them. */
export interface CallGate {
  /**
   * Waits for a place.
   *
   * @param bytes size of the call's arguments
   * @returns a function that gives the place back; undefined when the queue is full
   */
  enter(bytes: number): Promise<(() => void) | undefined>;
}

/**
 * Creates a gate.
 *
 * @param running calls that run at once
 * @param waitingBytes bytes of arguments that may wait
 * @returns the gate
 */
export function createCallGate(running: number, waitingBytes: number): CallGate {
  let free = running;
  let waitingNow = 0;
  const waiting: (() => void)[] = [];

  const leaveOnce = (): (() => void) => {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    };
  };

  return {
    async enter(bytes) {
      if (free > 0) {
        free -= 1;
        return leaveOnce();
      }
      if (waitingNow + bytes > waitingBytes) return undefined;
      waitingNow += bytes;
      await new Promise<void>((resolve) => waiting.push(resolve));
      waitingNow -= bytes;
      return leaveOnce();
    },
  };
}
