import { quotedText } from '../../contracts/text/quoted-text.ts';
import { isFound, type Pattern } from '../../tools/schema/json-schema/patterns/pattern.ts';
import { startRun, TOO_MUCH_WORK, TooMuchWork } from '../../tools/schema/json-schema/run.ts';
import { CheckUnmade } from './assertion.ts';

/** Steps of one search, of some 50 ns each: enough for a plain pattern in a text of a megabyte. */
const STEPS = 40_000_000;

/** The text or the pattern of a search. */
export type Sought = { text: string; ignoreCase: boolean } | { pattern: Pattern; source: string };

/** Whether a text holds the sought text or pattern. @throws CheckUnmade if the search takes too much work */
export function holds(text: string, sought: Sought): boolean {
  if ('text' in sought) {
    return sought.ignoreCase ? text.toLowerCase().includes(sought.text.toLowerCase()) : text.includes(sought.text);
  }
  try {
    return isFound(sought.pattern, text, { ...startRun(), steps: STEPS });
  } catch (error) {
    if (!(error instanceof TooMuchWork)) throw error;
    throw new CheckUnmade(`a text of ${text.length} characters ${TOO_MUCH_WORK} by ${shownSought(sought)}`);
  }
}

/** The sought text or pattern, for a reason. */
export function shownSought(sought: Sought): string {
  return 'text' in sought ? quotedText(sought.text) : `the pattern ${quotedText(sought.source)}`;
}
