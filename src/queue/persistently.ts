import { setTimeout as sleep } from 'node:timers/promises';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';

/** Pause before a query that the database did not answer is made again. */
const PAUSE_MS = 500;

/** Makes a query until the database answers: a change of a running job is not given up. */
export async function persistently<Result>(query: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await query();
    } catch (error) {
      if (!SkillcellError.isInstance(error) || error.code !== 'database.unavailable') throw error;
      await sleep(PAUSE_MS);
    }
  }
}
