import { removeHidden } from './hidden-characters.ts';

export { hasHidden, hiddenAt, removeHidden } from './hidden-characters.ts';
export { firstSentence } from './words/first-sentence.ts';

// oxlint-disable-next-line no-control-regex -- the pattern looks for control characters
const BLANKS_AND_CONTROLS = /[\s\u0000-\u001f\u007f-\u009f]+/g;
// oxlint-disable-next-line no-control-regex -- the pattern looks for control characters
const NEEDS_ONE_LINE = /[^\u0020-\u007e]|^ | $| {2}/;

/**
 * Puts a text on one line: hidden characters removed, runs of blanks and control characters made one blank, trimmed.
 *
 * @param text any text
 * @returns the text on one line
 */
export function oneLine(text: string): string {
  if (!NEEDS_ONE_LINE.test(text)) return text;
  return removeHidden(text).replace(BLANKS_AND_CONTROLS, ' ').trim();
}

/**
 * Counts code points; an unpaired surrogate counts as one.
 *
 * @param text any text
 * @returns the number of code points
 */
export function codePointLength(text: string): number {
  let length = text.length;
  for (let index = 1; index < text.length; index += 1) {
    if (isLow(text.charCodeAt(index)) && isHigh(text.charCodeAt(index - 1))) length -= 1;
  }
  return length;
}

/**
 * Cuts a text to at most `limit` code points. A longer text loses its end and the blanks before the cut, and gets `…`.
 *
 * @param text any text
 * @param limit code points that may stay, the `…` included; at least 1
 * @returns the text, or its beginning
 */
export function cutTo(text: string, limit: number): string {
  if (text.length <= limit || codePointLength(text) <= limit) return text;
  let end = 0;
  for (let count = 1; count < limit; count += 1) end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  return `${text.slice(0, end).trimEnd()}…`;
}

/**
 * Compares two texts by code point, as a sort function. UTF-16 order differs from it beyond U+FFFF.
 *
 * @param a one text
 * @param b another text
 * @returns a negative number, zero or a positive number
 */
export function compareCodePoints(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let index = 0; index < shared; index += 1) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/**
 * Wraps a text greedily at blanks. A word that is longer than the width stands alone.
 *
 * @param text one line of text
 * @param width code points a line
 * @returns the lines; none for a blank text
 */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  let columns = 0;
  for (const word of text.split(' ')) {
    if (word === '') continue;
    const length = codePointLength(word);
    if (line !== '' && columns + 1 + length <= width) {
      line += ` ${word}`;
      columns += 1 + length;
      continue;
    }
    if (line !== '') lines.push(line);
    line = word;
    columns = length;
  }
  if (line !== '') lines.push(line);
  return lines;
}

/** Ranks surrogates above all other 16-bit values, because they stand for higher code points. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit > 0xdfff ? unit - 0x800 : unit + 0x2000;
}

function isHigh(unit: number): boolean {
  return (unit & 0xfc00) === 0xd800;
}

function isLow(unit: number): boolean {
  return (unit & 0xfc00) === 0xdc00;
}
