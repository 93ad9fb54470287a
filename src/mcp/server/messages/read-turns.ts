import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { createJobQueue } from '../../../jobs/supply/job-queue.ts';

/** Reads that wait for their turn. */
const MOST_WAITING = 64;

/** Grants turns: answers that hold whole files are made and sent one after the other, so that only one of them is in memory. */
export interface ReadTurns {
  /**
   * Resolves with a function that ends the turn. An abandoned read leaves the queue.
   *
   * @throws SkillcellError `orchestrator.queue-full`; the signal's reason when it aborts before the turn comes
   */
  take(signal: AbortSignal): Promise<() => void>;
}

/** Starts with the turn free. */
export function createReadTurns(): ReadTurns {
  const queue = createJobQueue(1, MOST_WAITING);
  return {
    async take(signal) {
      try {
        return await queue.enter(signal);
      } catch (error) {
        if (!SkillcellError.isInstance(error)) throw error;
        const message = `Cannot read a resource: ${MOST_WAITING} reads wait already.`;
        throw new SkillcellError('orchestrator.queue-full', message, { cause: error });
      }
    },
  };
}
