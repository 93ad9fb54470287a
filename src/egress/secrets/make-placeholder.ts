import { randomInt } from 'node:crypto';

const RANDOM_CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
/** Beginnings of credentials that their issuers publish; programs check them. The longest comes first. */
const KNOWN_BEGINNINGS = [
  'sk-ant-api03-',
  'github_pat_',
  'sk-proj-',
  'sk-ant-',
  'glpat-',
  'xoxb-',
  'xoxp-',
  'AKIA',
  'sk-',
];
/** Letters up to a dash or an underscore: the beginning of an unknown issuer. */
const LIKELY_BEGINNING = /^[A-Za-z]{1,5}[_-]/;
/** The beginning is at most this part of the value. */
const LARGEST_PART = 1 / 4;

/**
 * Makes a placeholder for a value: random, as long as the value in UTF-8, with the same public beginning. It consists of letters, digits,
 * `-` and `_`, so no encoder escapes it. Its base64 has neither `+` nor `/`, next to any bytes, so that it fits into both alphabets.
 *
 * @param value a secret of at least 8 bytes without control characters
 * @param others values and placeholders that must not be confused with the placeholder
 */
export function makePlaceholder(value: string, others: readonly string[] = []): string {
  const length = Buffer.byteLength(value);
  if (length < 8) throw new RangeError(`Cannot make a placeholder: a value has at least 8 bytes, got ${length}.`);
  const beginning = publicBeginning(value, length);
  for (;;) {
    let placeholder = beginning;
    while (placeholder.length < length) placeholder += RANDOM_CHARACTERS[randomInt(RANDOM_CHARACTERS.length)] ?? '';
    // With both last bits set, the digit of base64 that it shares with the next byte may be 62 or 63.
    const isPlain = ((Buffer.from(placeholder).at(-1) ?? 0) & 3) !== 3;
    if (isPlain && ![value, ...others].some((other) => areAlike(placeholder, other))) return placeholder;
  }
}

function publicBeginning(value: string, length: number): string {
  const found = KNOWN_BEGINNINGS.find((known) => value.startsWith(known)) ?? LIKELY_BEGINNING.exec(value)?.[0] ?? '';
  return found.length <= length * LARGEST_PART ? found : '';
}

/**
 * Tells whether one contains the other, or the end of the placeholder is the beginning of the other. In the latter case, a value and
 * the rest of a value after it would become a whole value.
 */
export function areAlike(placeholder: string, other: string): boolean {
  const [mine, theirs] = [placeholder.toLowerCase(), other.toLowerCase()];
  if (mine.includes(theirs) || theirs.includes(mine)) return true;
  for (let length = 1; length < mine.length; length++) if (theirs.startsWith(mine.slice(-length))) return true;
  return false;
}
