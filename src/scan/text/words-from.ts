/** So many words, and so much of one, are a phrase. */
const WORDS = 12;
const LETTERS = 24;
/** What is longer is no word. A text without blanks would be walked to its end from each of its characters. */
const LONGEST_WORD = 100;
/** What stands between two words of one phrase: blanks, line ends, and what comments and emphasis put there. */
const GAP = /[\s*#/>~`"'.,:;|_()<!-]/;
const IN_WORD = /[\p{L}\p{N}’']/u;

/** Of ASCII, what a character is is looked up. */
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
 * Gives the words of a text from an offset on, in lower case with one blank between them, whatever stands there.
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
    // Something else ends the phrase.
    if (gap === at && at < text.length) break;
    at = gap;
  }
  return words.join(' ');
}
