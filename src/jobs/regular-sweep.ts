import type { Logger } from 'pino';
import type { Runner } from '../sandboxes/runner.ts';

/** Lets the first jobs of a host go before it looks for what dead ones left. */
const FIRST_MS = 1_000;

/** Options of {@link startRegularSweep}. */
export interface RegularSweepOptions {
  runners: readonly Runner[];
  /** Milliseconds from the end of one sweep to the next; 0 for none at all. */
  intervalMs: number;
  log: Logger | undefined;
}

/**
 * Sweeps soon after the start and then regularly, beside the jobs: what a sweep cannot do is logged and tried again by the
 * next one. It keeps no process from ending.
 *
 * @returns ends it, and resolves when none is under way
 */
export function startRegularSweep({ runners, intervalMs, log }: RegularSweepOptions): () => Promise<void> {
  if (intervalMs === 0) return () => Promise.resolve();
  const closing = new AbortController();
  let running = Promise.resolve();

  const sweep = async (runner: Runner): Promise<void> => {
    try {
      const { removed, failed } = await runner.sweep({ signal: closing.signal });
      if (removed.length > 0) log?.info({ runner: runner.name, removed }, 'what dead hosts left was removed');
      if (failed.length > 0) log?.warn({ runner: runner.name, failed }, 'what dead hosts left could not be removed');
    } catch (error) {
      // A runner that is not to be had, such as an engine that is not there, has nothing to sweep now.
      if (!closing.signal.aborted) log?.debug({ runner: runner.name, err: error }, 'no sweep');
    }
  };

  const schedule = (delayMs: number): NodeJS.Timeout =>
    setTimeout(() => {
      running = Promise.all(runners.map(sweep)).then(() => {
        if (!closing.signal.aborted) timer = schedule(intervalMs);
      });
    }, delayMs).unref();
  let timer = schedule(Math.min(FIRST_MS, intervalMs));

  return async () => {
    clearTimeout(timer);
    closing.abort(new Error('The orchestrator is closed.'));
    await running;
  };
}
