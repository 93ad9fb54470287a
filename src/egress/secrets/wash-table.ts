import { BLOCK, type BlockTable, blockTable } from './block-table.ts';
import { LONGEST_BREAK } from './forms/line-break.ts';
import { type WashedSecret, type WashForm, washForms } from './forms/wash-forms.ts';

/** A scan looks at one block in so many bytes at most. */
const LARGEST_STRIDE = 32;

/** All forms of the secrets of a job, prepared once for all answers. Nothing changes it. */
export interface WashTable {
  /** For each byte, the forms that may begin with it. */
  starts: readonly (readonly WashForm[])[];
  /** The same for texts in which case does not count. */
  startsInAnyCase: readonly (readonly WashForm[])[];
  blocks: BlockTable;
  stride: number;
  /** The most bytes of an occurrence. */
  longest: number;
}

/** Prepares the washing of answers from hosts that secrets of a job go to. */
export function makeWashTable(secrets: readonly WashedSecret[]): WashTable {
  const forms = secrets.flatMap((secret) => washForms(secret));
  const shortest = Math.min(Infinity, ...forms.map(({ units }) => sum(units.map((unit) => unit.shortest))));
  if (shortest < BLOCK)
    throw new RangeError(`Cannot wash a value: it has at least 8 bytes, got a form of ${shortest}.`);
  const stride = Math.min(LARGEST_STRIDE, shortest - BLOCK + 1);
  return {
    starts: startsOf(forms),
    startsInAnyCase: startsOf(secrets.flatMap((secret) => washForms(secret, true))),
    blocks: blockTable(forms, stride),
    stride,
    longest: Math.max(0, ...forms.map(longestOf)),
  };
}

function startsOf(forms: readonly WashForm[]): WashForm[][] {
  const begins = (form: WashForm, byte: number): boolean => {
    const unit = form.units[0];
    return unit?.firsts.some((place) => unit.accepts[place]?.[byte] === 1) === true;
  };
  return Array.from({ length: 256 }, (_, byte) => forms.filter((form) => begins(form, byte)));
}

function longestOf({ units, breaks }: WashForm): number {
  return sum(units.map(({ longest }) => longest)) + (breaks ? LONGEST_BREAK * (units.length - 1) : 0);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
