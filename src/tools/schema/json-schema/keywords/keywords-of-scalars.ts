import { quotedText } from '../../../../contracts/text/quoted-text.ts';
import { isBytes, isNumber, isText } from '../../document/kinds-of-values.ts';
import { SchemaRefused } from '../../schema-refused.ts';
import { countBounds } from './count-bounds.ts';
import { NUMBER_FORMATS, TEXT_FORMATS } from './formats.ts';
import { type Keyword, optional } from './keyword.ts';
import { isFound } from '../patterns/pattern.ts';
import { fault, type Run, spend } from '../run.ts';

/** A number as the decimal in JSON: `units` × 10 ^ `exponent`. */
interface Decimal {
  units: bigint;
  exponent: number;
}

/** Keywords that apply only to numbers and texts. */
export const KEYWORDS_OF_SCALARS: readonly Keyword[] = [
  bound('minimum', (value, limit) => value >= limit, 'at least'),
  bound('maximum', (value, limit) => value <= limit, 'at most'),
  bound('exclusiveMinimum', (value, limit) => value > limit, 'more than'),
  bound('exclusiveMaximum', (value, limit) => value < limit, 'less than'),
  {
    names: ['multipleOf'],
    read(reading) {
      const divisor = optional(reading, 'multipleOf', isPositive, 'a number above 0');
      if (divisor === undefined) return undefined;
      return (value, run) => {
        if (!isNumber(value)) return true;
        spend(run, 100);
        return isMultipleOf(value, divisor) || fault(run, `must be a multiple of ${divisor}`);
      };
    },
  },
  ...countBounds('Length', { count: lengthOf, unit: (value) => (isBytes(value) ? 'bytes' : 'characters') }),
  {
    names: ['pattern'],
    read(reading) {
      const source = optional(reading, 'pattern', isText, 'a text');
      if (source === undefined) return undefined;
      const pattern = reading.pattern(source);
      return (value, run) =>
        !isText(value) || isFound(pattern, value, run) || fault(run, `must match the pattern ${source}`);
    },
  },
  {
    names: ['format'],
    read(reading) {
      const name = optional(reading, 'format', isText, 'a text');
      if (name === undefined) return undefined;
      const [ofTexts, ofNumbers] = [TEXT_FORMATS.get(name), NUMBER_FORMATS.get(name)];
      if (ofTexts === undefined && ofNumbers === undefined)
        throw new SchemaRefused(`the keyword "format" with ${quotedText(name)}`);
      return (value, run) => {
        if (isText(value) && ofTexts !== undefined) {
          spend(run, value.length / 4);
          return ofTexts(value) || fault(run, `must be a text of the format ${name}`);
        }
        return (
          !isNumber(value) || ofNumbers === undefined || ofNumbers(value) || fault(run, `must be of the format ${name}`)
        );
      };
    },
  },
];

function bound(name: string, fits: (value: number, limit: number) => boolean, told: string): Keyword {
  return {
    names: [name],
    read(reading) {
      const limit = optional(reading, name, isNumber, 'a number');
      if (limit === undefined) return undefined;
      return (value, run) => !isNumber(value) || fits(value, limit) || fault(run, `must be ${told} ${limit}`);
    },
  };
}

/** The length of a text in characters, or of bytes. */
function lengthOf(value: unknown, run: Run): number | undefined {
  if (isBytes(value)) return value.length;
  if (!isText(value)) return undefined;
  spend(run, value.length / 4);
  return characters(value);
}

function isPositive(value: unknown): value is number {
  return isNumber(value) && value > 0;
}

/** Counts code points, as JSON Schema does. An unpaired surrogate counts as one. */
function characters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/**
 * Whether a number is a multiple of another, by their decimal forms: 0.3 is a multiple of 0.1, although the quotient of the
 * binary numbers is 2.9999999999999996.
 */
export function isMultipleOf(value: number, divisor: number): boolean {
  const [a, b] = [decimalOf(value), decimalOf(divisor)];
  const exponent = Math.min(a.exponent, b.exponent);
  return scaled(a, exponent) % scaled(b, exponent) === 0n;
}

function decimalOf(value: number): Decimal {
  const [digits = '', power = '0'] = value.toString().split('e');
  const [whole = '', fraction = ''] = digits.split('.');
  return { units: BigInt(whole + fraction), exponent: Number(power) - fraction.length };
}

function scaled({ units, exponent }: Decimal, to: number): bigint {
  return units * 10n ** BigInt(exponent - to);
}
