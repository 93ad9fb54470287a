import { usageError } from '../../terminal/usage-error.ts';

/** Allowed numbers of a flag. */
export interface NumberRange {
  minimum: number;
  maximum: number;
  /** Default: whole numbers only. */
  fraction?: boolean;
  /** The counted unit, for messages. */
  unit: string;
}

/**
 * Reads a number in plain decimal digits: no sign, exponent, hexadecimal or blank.
 *
 * @param flag the flag with its hyphens
 * @throws SkillcellError `usage.invalid`, naming the flag, the value and the allowed range
 */
export function parseNumber(flag: string, text: string, range: NumberRange): number {
  const { minimum, maximum, fraction = false, unit } = range;
  const value = (fraction ? /^\d{1,15}(\.\d{1,9})?$/ : /^\d{1,15}$/).test(text) ? Number(text) : Number.NaN;
  if (value >= minimum && value <= maximum) return value;
  const kind = fraction ? 'a number' : 'a whole number';
  throw usageError(flag, `it must be ${kind} of ${unit} from ${minimum} to ${maximum}`, text);
}
