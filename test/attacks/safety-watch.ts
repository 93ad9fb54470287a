import { startQuietClock } from '../fixtures/quiet-clock.ts';

const MIB = 1024 * 1024;
const TICK_MS = 20;

/** What this process, the host of the sandboxes, went through while a case ran. */
export interface Safety {
  /**
   * The longest time for which the event loop answered nobody by its own fault, in milliseconds: it computed, or it waited
   * while the machine had a processor for whoever wanted one. Other work on the machine does not count.
   */
  loopDelayMs: number;
  /** The most that resident memory grew by, in MiB. */
  grownMib: number;
}

/** Watches the event loop and the memory of this process until the returned function is called. */
export function watchSafety(): () => Safety {
  const base = process.memoryUsage.rss();
  let most = base;
  let loopDelayMs = 0;
  let cpu = process.threadCpuUsage();
  let elapsedMs = startQuietClock();
  const sample = (): void => {
    most = Math.max(most, process.memoryUsage.rss());
    const { user, system } = process.threadCpuUsage(cpu);
    loopDelayMs = Math.max(loopDelayMs, (user + system) / 1_000, elapsedMs() - TICK_MS);
    cpu = process.threadCpuUsage();
    elapsedMs = startQuietClock();
  };
  const timer = setInterval(sample, TICK_MS);
  return () => {
    clearInterval(timer);
    sample();
    return { loopDelayMs, grownMib: (most - base) / MIB };
  };
}
