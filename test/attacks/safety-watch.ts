import { monitorEventLoopDelay } from 'node:perf_hooks';

const MIB = 1024 * 1024;

/** What this process, the host of the sandboxes, went through while a case ran. */
export interface Safety {
  /** The longest time for which the event loop answered nobody, in milliseconds. */
  loopDelayMs: number;
  /** The most that resident memory grew by, in MiB. */
  grownMib: number;
}

/** Watches the event loop and the memory of this process until the returned function is called. */
export function watchSafety(): () => Safety {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const base = process.memoryUsage.rss();
  let most = base;
  const sample = (): void => {
    most = Math.max(most, process.memoryUsage.rss());
  };
  const timer = setInterval(sample, 20);
  return () => {
    clearInterval(timer);
    sample();
    delay.disable();
    return { loopDelayMs: delay.max / 1e6, grownMib: (most - base) / MIB };
  };
}
