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
  let running = 0;
  const waiting: { go: () => void }[] = [];

  const place = (): (() => void) => {
    running += 1;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      running -= 1;
      waiting.shift()?.go();
    };
  };

  return {
    get running() {
      return running;
    },
    async enter(signal) {
      signal.throwIfAborted();
      if (running < places) return place();
      if (waiting.length >= maxWaiting) {
        throw new SkillcellError('orchestrator.queue-full', `Cannot accept the job: ${maxWaiting} jobs wait already.`);
      }
      const turn = Promise.withResolvers<() => void>();
      const entry = {
        go: () => {
          signal.removeEventListener('abort', leave);
          turn.resolve(place());
        },
      };
      const leave = (): void => {
        waiting.splice(waiting.indexOf(entry), 1);
        turn.reject(signal.reason as Error);
      };
      signal.addEventListener('abort', leave, { once: true });
      waiting.push(entry);
      return await turn.promise;
    },
  };
}
