import { SkillcellError } from '../contracts/errors/skillcell-error.ts';

/** The file with the evals of a skill. */
export const EVAL_FILE = 'evals/evals.json';
/** The action that fails if that file is invalid. */
export const EVAL_ACTION: string = `evaluate the skill by ${EVAL_FILE}`;

/** The refusal of the file, which names a field. */
export function evalFault(field: string, reason: string, cause?: unknown): SkillcellError {
  const message = `Cannot ${EVAL_ACTION}: ${field} ${reason}.`;
  return new SkillcellError('eval.invalid', message, cause === undefined ? {} : { cause });
}
