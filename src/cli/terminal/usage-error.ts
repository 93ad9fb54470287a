import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';

/** The longest piece of a caller's text that a message repeats, in UTF-16 units. */
const SHOWN = 200;

/** An error of the command line: what it is about, what is allowed, and what stood there. */
export function usageError(about: string, allowed: string, value: string, hint?: string): SkillcellError {
  const message = `Cannot use ${about}: ${allowed}, got ${quoted(value)}.`;
  return new SkillcellError('usage.invalid', message, hint === undefined ? {} : { hint });
}

/** A caller's text as it may stand in a message. */
export function quoted(value: string): string {
  return JSON.stringify(value.length > SHOWN ? `${value.slice(0, SHOWN)}…` : value);
}
