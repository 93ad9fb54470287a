import { withinDeadline } from '../protocol/within-deadline.ts';
import type { BackgroundWork } from './supply/background-work.ts';
import type { JobHost } from './run/job-host.ts';

/** Deadline of the close in milliseconds. Sandboxes of a hanging engine are then left to the sweep of another host. */
const CLOSE_MS = 9_000;

/**
 * Cancels every job, ends the sandboxes and the background work, and closes the journal once all jobs have their results.
 *
 * @param jobs the jobs under way
 * @param endSweep ends the regular sweep
 */
export async function closeHost(host: JobHost, jobs: BackgroundWork, endSweep: () => Promise<void>): Promise<void> {
  const { settings, active, supply, skillCode, leaving, journal, egress } = host;
  for (const cancellation of active.values()) cancellation.cancel('the orchestrator was closed');
  skillCode?.close();
  const ends = [supply.close(), endSweep(), ...settings.runners.map((runner) => runner.close())];
  for (const end of ends) leaving.add(end);
  const settled = async (): Promise<void> => {
    await Promise.allSettled(ends);
    await jobs.settled();
    await leaving.settled();
    await egress?.close();
  };
  await withinDeadline(settled(), { limitMs: CLOSE_MS, overdue: () => undefined });
  try {
    journal?.close();
  } catch (error) {
    // The callers know that these jobs failed. The journal stays, and the next host records them.
    settings.logger?.error({ err: error }, 'some jobs have no recorded result');
  }
}
