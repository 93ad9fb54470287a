import { SkillcellError } from '../contracts/errors/skillcell-error.ts';

/** Where a skill keeps its evals. */
export const EVAL_FILE = 'evals/evals.json';
/** What cannot be done where that file is no good. */
export const EVAL_ACTION: string = `evaluate the skill by ${EVAL_FILE}`;

/** A refusal of the file that names a field of it. */
export function evalFault(field: string, reason: string, cause?: unknown): SkillcellError {
  const message = `Cannot ${EVAL_ACTION}: ${field} ${reason}.`;
  return new SkillcellError('eval.invalid', message, cause === undefined ? {} : { cause });
}
