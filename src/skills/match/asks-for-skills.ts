import { foldText } from '../text/words/fold-text.ts';

const SKILLS = '(?:skills|capabilities)';

/** The questions that ask for the list of skills. Each must be the whole query. */
const QUESTIONS: readonly RegExp[] = [
  /^what (?:else )?can you do(?: for me| here)?$/,
  new RegExp(`^what are your ${SKILLS}$`),
  /^(?:available )?skills$/,
  new RegExp(`^(?:what|which) ${SKILLS} (?:do you have|are there|are available|can you use)$`),
  new RegExp(`^(?:please )?(?:list|show) (?:me )?(?:all )?(?:(?:the|your) )?(?:available )?${SKILLS}(?: please)?$`),
];

/** Longer than any of the questions, with room for blanks and punctuation. */
const LONGEST_QUESTION = 200;

/**
 * Tells whether a query asks for the list of skills. A question with an object ("… with this PDF") is a task, not such
 * a question.
 *
 * @param query the whole query
 */
export function asksForSkills(query: string): boolean {
  const trimmed = query.trim();
  if (trimmed.length > LONGEST_QUESTION) return false;
  const question = foldText(trimmed.replace(/^[\p{P}\s]+|[\p{P}\s]+$|,/gu, ' '));
  return QUESTIONS.some((form) => form.test(question));
}
