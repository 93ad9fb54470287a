import { createLimiter } from '../../protocol/limiter.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';

/** Lets a fixed number of jobs run at once; the others wait in the order in which they came. */
export interface JobQueue {
  /**
   * Waits for a place. The returned function gives it back, once, however often it is called.
   *
   * @throws SkillcellError `orchestrator.queue-full`; the signal's reason when it is aborted while waiting
   */
  enter(signal: AbortSignal): Promise<() => void>;
  readonly running: number;
}

/** Creates a queue with `places` places and room for `maxWaiting` that wait. */
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
