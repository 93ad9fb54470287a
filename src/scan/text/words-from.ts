/** The most words of a phrase, and the most characters of each. */
const WORDS = 12;
const LETTERS = 24;
/** Longer runs are not words. Otherwise, a text without blanks would be read to its end from each of its characters. */
const LONGEST_WORD = 100;
/** Characters between two words of one phrase: blanks, line ends, and characters of comments and emphasis. */
const GAP = /[\s*#/>~`"'.,:;|_()<!-]/;
const IN_WORD = /[\p{L}\p{N}’']/u;

/** Kinds of the ASCII characters, in a table for speed. */
const KINDS: readonly ('word' | 'gap' | 'other')[] = Array.from({ length: 128 }, (_, code) =>
  kindOf(String.fromCharCode(code)),
);

function kindOf(character: string): 'word' | 'gap' | 'other' {
  if (IN_WORD.test(character)) return 'word';
  return GAP.test(character) ? 'gap' : 'other';
}

function kindAt(text: string, at: number): 'word' | 'gap' | 'other' {
  return KINDS[text.charCodeAt(at)] ?? kindOf(text[at] ?? '');
}

/**
 * Returns the words of a text from an offset on, in lower case with one blank between them, across comments and emphasis.
 *
 * @returns at most 300 characters
 */
export function wordsFrom(text: string, from: number): string {
  const words: string[] = [];
  for (let at = from; at < text.length && words.length < WORDS;) {
    let end = at;
    while (end < text.length && end - at < LONGEST_WORD && kindAt(text, end) === 'word') end += 1;
    if (end > at) words.push(text.slice(at, Math.min(end, at + LETTERS)).replaceAll('’', "'"));
    at = end;
    let gap = at;
    while (gap < text.length && kindAt(text, gap) === 'gap') gap += 1;
    // Any other character ends the phrase.
    if (gap === at && at < text.length) break;
    at = gap;
  }
  return words.join(' ');
}
