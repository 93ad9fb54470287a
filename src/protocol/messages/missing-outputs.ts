import type { JobResult, ProgramError } from '../../contracts/jobs/result.ts';
import { rowOf } from './left-out.ts';

/** A declared output that was not delivered, and the reason if it exists but was left out. */
export interface MissingOutput {
  path: string;
  reason?: string;
}

/** The message of a result has room for ten of the longest paths with their reasons. */
const NAMED = 10;

/** The declared outputs that were not delivered, each with the reason of its row in `omitted`. */
export function missingOutputs(
  expected: readonly string[],
  delivered: ReadonlySet<string>,
  result: Pick<JobResult, 'omitted'>,
): MissingOutput[] {
  return expected
    .filter((path) => !delivered.has(path))
    .map((path) => {
      const row = rowOf(result, path);
      return { path, ...(row === undefined ? {} : { reason: row.reason }) };
    });
}

/** The error of a job whose program succeeded but whose declared outputs are missing. */
export function missingError(missing: readonly MissingOutput[]): ProgramError {
  const named = missing
    .slice(0, NAMED)
    .map(({ path, reason }) => (reason === undefined ? path : `${path} (left out: ${reason})`));
  if (missing.length > NAMED) named.push(`and ${missing.length - NAMED} more`);
  return { name: 'ContractError', message: `Declared outputs are missing: ${named.join(', ')}.`, stack: '' };
}
