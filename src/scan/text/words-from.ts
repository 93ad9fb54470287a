/** So many words, and so much of one, are a phrase. */
const WORDS = 12;
const LETTERS = 24;
/** What stands between two words of one phrase: blanks, line ends, and what comments and emphasis put there. */
const GAP = /[\s*#/>~`"'.,:;|_()<!-]/;
const IN_WORD = /[\p{L}\p{N}’']/u;

/** The most characters that {@link wordsFrom} gives. */
export const PHRASE_LENGTH: number = WORDS * (LETTERS + 1);

/**
 * Gives the words of a text from an offset on, in lower case with one blank between them, whatever stands there.
 *
 * @returns at most {@link PHRASE_LENGTH} characters
 */
export function wordsFrom(text: string, from: number): string {
  const words: string[] = [];
  for (let at = from; at < text.length && words.length < WORDS;) {
    let end = at;
    while (end < text.length && IN_WORD.test(text[end] ?? '')) end += 1;
    if (end > at) words.push(text.slice(at, Math.min(end, at + LETTERS)).replaceAll('’', "'"));
    at = end;
    let gap = at;
    while (gap < text.length && GAP.test(text[gap] ?? '')) gap += 1;
    // Something else ends the phrase.
    if (gap === at && at < text.length) break;
    at = gap;
  }
  return words.join(' ');
}
