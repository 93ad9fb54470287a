import { cutTo, oneLine } from '../../../skills/text/text.ts';

/** Everything that some reader treats as a line end. */
// oxlint-disable-next-line no-control-regex -- the pattern looks for control characters
const LINE_END = /\r\n|[\n\r\u000b\u000c\u001c-\u001e\u0085\u2028\u2029]/;

const HALF_CHARACTER = /\p{Surrogate}/gu;

/** Most characters of all lines together, and most lines. */
const MOST_CHARACTERS = 2_000;
const MOST_LINES = 40;

/**
 * Makes comment lines from an untrusted text. No line is blank or holds control characters, hidden characters or half of a
 * surrogate pair.
 *
 * @param text a description; any other value gives no lines
 * @param limit most characters
 * @returns the lines
 */
export function commentLines(text: unknown, limit: number = MOST_CHARACTERS): string[] {
  if (typeof text !== 'string') return [];
  // The cut comes first and counts hidden characters too, so that a long text of them takes no time.
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
