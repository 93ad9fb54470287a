import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';

/** The longest piece of a caller's text in a message, in UTF-16 units. */
const SHOWN = 200;

/** An error of the command line: the flag or operand, the allowed values, and the given value. */
export function usageError(about: string, allowed: string, value: string, hint?: string): SkillcellError {
  const message = `Cannot use ${about}: ${allowed}, got ${quoted(value)}.`;
  return new SkillcellError('usage.invalid', message, hint === undefined ? {} : { hint });
}

/** A caller's text, quoted and shortened for messages. */
export function quoted(value: string): string {
  return JSON.stringify(value.length > SHOWN ? `${value.slice(0, SHOWN)}…` : value);
}
