import { getHeapSpaceStatistics } from 'node:v8';
import { startQuietClock } from '../fixtures/quiet-clock.ts';

const MIB = 1024 * 1024;
const TICK_MS = 20;

/** The state of this process, the host of the sandboxes, during a case. */
export interface Safety {
  /**
   * The longest time for which the event loop did not respond by its own fault, in milliseconds: it computed, or it waited although the machine had a
   * free processor. Other work on the machine does not count.
   */
  loopDelayMs: number;
  /**
   * The greatest growth of resident memory, in MiB, without V8's young generation: that takes some tens of MiB as soon as garbage fills it, and kept
   * objects leave it.
   */
  grownMib: number;
}

function residentBytes(): number {
  const young = getHeapSpaceStatistics().filter(({ space_name: name }) => name.startsWith('new_'));
  return process.memoryUsage.rss() - young.reduce((sum, space) => sum + space.physical_space_size, 0);
}

/** Watches the event loop and the memory of this process until the returned function is called. */
export function watchSafety(): () => Safety {
  const base = residentBytes();
  let most = base;
  let loopDelayMs = 0;
  let cpu = process.threadCpuUsage();
  let elapsedMs = startQuietClock();
  const sample = (): void => {
    most = Math.max(most, residentBytes());
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
