import type { JobDispatch, JobWork } from './job-dispatch.ts';

/** Most jobs that wait for a sandbox. The others wait in the database, where the order of users decides. */
const MOST_STARTING = 8;

/**
 * Dispatch within one process.
 *
 * @param pollMs pause between two looks for jobs that other processes have accepted; none without it
 */
export function localDispatch({ pollMs }: { pollMs?: number } = {}): JobDispatch {
  const running = new Set<Promise<void>>();
  let work: JobWork | undefined;
  let places = 0;
  let isStopped = false;
  /** Whether a job came since the last claim found none. */
  let isAsked = false;
  let claiming: Promise<void> = Promise.resolve();
  let isClaiming = false;
  let polling: NodeJS.Timeout | undefined;

  const canClaim = ({ starting }: JobWork): boolean =>
    isAsked && !isStopped && running.size < places && starting < MOST_STARTING;
  /** Claims jobs one after the other while there are places. */
  const claimAll = async (from: JobWork): Promise<void> => {
    while (canClaim(from)) {
      isAsked = false;
      const claimed = await from.claim();
      if (claimed === undefined) continue;
      const { ended } = claimed;
      isAsked = true;
      running.add(ended);
      void ended.then(() => {
        running.delete(ended);
        pump();
      });
    }
    isClaiming = false;
  };
  const pump = (): void => {
    isAsked = true;
    if (isClaiming || work === undefined) return;
    isClaiming = true;
    claiming = claimAll(work);
  };

  return {
    look: pump,
    cancel: (id, reason) => work?.cancel(id, reason),
    run(given, concurrency) {
      [work, places] = [given, concurrency];
      if (pollMs !== undefined) polling = setInterval(pump, pollMs).unref();
      pump();
    },
    async stop() {
      isStopped = true;
      clearInterval(polling);
      await claiming;
      await Promise.all(running);
    },
  };
}
