import { setTimeout as sleep } from 'node:timers/promises';
import type { ErrorCode } from '../contracts/errors/error-registry.ts';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';

/** Pause before work is tried again. */
const PAUSE_MS = 500;

/**
 * Repeats work until the database, or another store, answers: a change of a running job is not given up.
 *
 * @param away code of the error that says that the store is away
 */
export async function persistently<Result>(
  work: () => Promise<Result>,
  away: ErrorCode = 'database.unavailable',
): Promise<Result> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!SkillcellError.isInstance(error) || error.code !== away) throw error;
      await sleep(PAUSE_MS);
    }
  }
}
