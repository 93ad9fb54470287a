import type { JobDispatch, JobWork } from './job-dispatch.ts';

/** Dispatch within one process. */
export function localDispatch(): JobDispatch {
  const running = new Set<Promise<void>>();
  let work: JobWork | undefined;
  let places = 0;
  let isStopped = false;
  /** Whether a job came since the last claim found none. */
  let isAsked = false;
  let claiming: Promise<void> = Promise.resolve();
  let isClaiming = false;

  const canClaim = (): boolean => isAsked && !isStopped && running.size < places;
  /** Claims jobs one after the other while there are places. */
  const claimAll = async ({ claim }: JobWork): Promise<void> => {
    while (canClaim()) {
      isAsked = false;
      const claimed = await claim();
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
    enqueue: pump,
    cancel: (id, reason) => work?.cancel(id, reason),
    run(given, concurrency) {
      [work, places] = [given, concurrency];
      pump();
    },
    async stop() {
      isStopped = true;
      await claiming;
      await Promise.all(running);
    },
  };
}
