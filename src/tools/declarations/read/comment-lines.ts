import { cutTo, oneLine } from '../../../skills/text/text.ts';

/** Everything that some reader takes for the end of a line. */
// oxlint-disable-next-line no-control-regex -- control characters are what this looks for
const LINE_END = /\r\n|[\n\r\u000b\u000c\u001c-\u001e\u0085\u2028\u2029]/;

const HALF_CHARACTER = /\p{Surrogate}/gu;

/** Characters of all lines together, and how many lines. */
const MOST_CHARACTERS = 2_000;
const MOST_LINES = 40;

/**
 * Makes the lines of a comment from a text that somebody else wrote. No line holds a control character, a hidden one, or
 * half of a surrogate pair; none is blank.
 *
 * @param text a description; anything else than a text has no lines
 * @param limit characters that may stay
 * @returns the lines
 */
export function commentLines(text: unknown, limit: number = MOST_CHARACTERS): string[] {
  if (typeof text !== 'string') return [];
  // A hidden character counts until it is gone, so that a text of nothing else takes no time.
  const lines = text
    .slice(0, limit * 4)
    .replace(HALF_CHARACTER, '\ufffd')
    .split(LINE_END)
    .map(oneLine)
    .filter((line) => line !== '');
  const kept: string[] = [];
  let left = limit;
  for (const line of lines) {
    if (left < 1 || kept.length >= MOST_LINES) return [...kept, '…'];
    kept.push(cutTo(line, left));
    left -= line.length;
  }
  return kept;
}
