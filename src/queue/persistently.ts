import { setTimeout as sleep } from 'node:timers/promises';
import type { ErrorCode } from '../contracts/errors/error-registry.ts';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';

/** Pause before a query that the database did not answer is made again. */
const PAUSE_MS = 500;

/**
 * Makes a query until the database answers: a change of a running job is not given up.
 *
 * @param away code of the error after which it is made again
 */
export async function persistently<Result>(
  query: () => Promise<Result>,
  away: ErrorCode = 'database.unavailable',
): Promise<Result> {
  for (;;) {
    try {
      return await query();
    } catch (error) {
      if (!SkillcellError.isInstance(error) || error.code !== away) throw error;
      await sleep(PAUSE_MS);
    }
  }
}
