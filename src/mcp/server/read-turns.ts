import { SkillcellError } from '../../contracts/skillcell-error.ts';

/** Reads that wait for their turn. */
const MOST_WAITING = 64;

/** Hands out turns: answers that hold whole files are made and sent one after the other, so that only one of them is in memory. */
export interface ReadTurns {
  /**
   * Resolves with how to end the turn.
   *
   * @throws SkillcellError `orchestrator.queue-full`
   */
  take(): Promise<() => void>;
}

/** Starts with the turn free. */
export function createReadTurns(): ReadTurns {
  const waiting: (() => void)[] = [];
  let taken = false;
  const end = (): void => {
    const next = waiting.shift();
    if (next === undefined) taken = false;
    else next();
  };
  return {
    async take() {
      if (taken) {
        if (waiting.length >= MOST_WAITING) {
          const message = `Cannot read a resource: ${MOST_WAITING} reads wait already, got one more.`;
          throw new SkillcellError('orchestrator.queue-full', message);
        }
        await new Promise<void>((go) => waiting.push(go));
      }
      taken = true;
      let isOver = false;
      return () => {
        if (!isOver) end();
        isOver = true;
      };
    },
  };
}
