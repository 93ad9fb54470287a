import { createLimiter } from '../../protocol/limiter.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';

/** Lets a fixed number of jobs run at once; the others wait in the order of their arrival. */
export interface JobQueue {
  /**
   * Waits for a place. The returned function gives the place back and is idempotent.
   *
   * @throws SkillcellError `orchestrator.queue-full`; the signal's reason when it is aborted while waiting
   */
  enter(signal: AbortSignal): Promise<() => void>;
  readonly running: number;
}

/** Creates a queue with `places` places and at most `maxWaiting` waiting jobs. */
export function createJobQueue(places: number, maxWaiting: number): JobQueue {
  const limiter = createLimiter({ room: places, queue: maxWaiting });
  return {
    get running() {
      return limiter.running;
    },
    async enter(signal) {
      const leave = await limiter.enter({ signal });
      if (leave !== undefined) return leave;
      throw new SkillcellError('orchestrator.queue-full', `Cannot accept the job: ${maxWaiting} jobs wait already.`);
    },
  };
}
