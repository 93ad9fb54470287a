import type { Logger } from 'pino';
import type { Runner } from '../sandboxes/runner.ts';

/** Delay of the first sweep in milliseconds, so that the first jobs of a host go first. */
const FIRST_MS = 1_000;

/** Options of {@link startRegularSweep}. */
export interface RegularSweepOptions {
  runners: readonly Runner[];
  /** Milliseconds from the end of one sweep to the next; 0 turns the sweeps off. */
  intervalMs: number;
  log: Logger | undefined;
}

/**
 * Sweeps soon after the start and then regularly, in the background. Failures are logged, and the next sweep tries again. The timer
 * does not keep the process alive.
 *
 * @returns a function that stops the sweeps, and resolves when the current sweep has ended
 */
export function startRegularSweep({ runners, intervalMs, log }: RegularSweepOptions): () => Promise<void> {
  if (intervalMs === 0) return () => Promise.resolve();
  const closing = new AbortController();
  let running = Promise.resolve();

  const sweep = async (runner: Runner): Promise<void> => {
    try {
      const { removed, failed } = await runner.sweep({ signal: closing.signal });
      if (removed.length > 0) log?.info({ runner: runner.name, removed }, 'leftovers of dead hosts were removed');
      if (failed.length > 0) log?.warn({ runner: runner.name, failed }, 'leftovers of dead hosts could not be removed');
    } catch (error) {
      // An unavailable runner, such as a missing engine, has nothing to sweep now.
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
