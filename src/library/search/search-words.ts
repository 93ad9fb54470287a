import { stemmer } from 'stemmer';
import { isAscii } from '../../skills/text/words/ascii.ts';
import { foldCase } from '../../skills/text/words/fold-text.ts';

/** A word of a text, in the form of the index. */
export interface SearchWord {
  word: string;
  /** Position in the text, in UTF-16 units. */
  start: number;
  end: number;
}

const ASCII_WORD = /[A-Za-z0-9]+/g;
/** Parts of a Unicode word: `node.js` and `wiki_submit` are found by their parts, like `pdf-press`. */
const PART = /[\p{L}\p{M}\p{N}]+/gu;
/** Accents of European scripts. Marks of other scripts are vowels, without which the word is another one. */
const ACCENTS = /[\u0300-\u036f]+/g;
const ENGLISH = /^[a-z]{3,40}$/;

let segmenter: Intl.Segmenter | undefined;

/** A fixed locale: word boundaries must not depend on the machine's language. Its rules take 20 ms to load, which ASCII texts need not wait for. */
function wordSegmenter(): Intl.Segmenter {
  return (segmenter ??= new Intl.Segmenter('en', { granularity: 'word' }));
}

/**
 * The words of a text, folded: NFKC, case, accents of European scripts, endings of English words.
 *
 * @param text any text; it has no syntax
 */
export function* wordsOf(text: string): Generator<SearchWord> {
  if (isAscii(text)) {
    for (const match of text.matchAll(ASCII_WORD)) yield found(match, 0);
    return;
  }
  for (const { segment, index, isWordLike } of wordSegmenter().segment(text)) {
    if (isWordLike !== true) continue;
    for (const match of segment.matchAll(PART)) yield found(match, index);
  }
}

function found(match: RegExpExecArray, offset: number): SearchWord {
  const [written] = match;
  const start = offset + match.index;
  return { word: folded(written), start, end: start + written.length };
}

/** A cache, as texts repeat their words. */
const known = new Map<string, string>();
const KNOWN_WORDS = 50_000;
const KNOWN_LENGTH = 64;

function folded(written: string): string {
  const earlier = known.get(written);
  if (earlier !== undefined) return earlier;
  const word = fold(written);
  if (known.size >= KNOWN_WORDS) known.clear();
  if (written.length <= KNOWN_LENGTH) known.set(written, word);
  return word;
}

function fold(written: string): string {
  const cased = isAscii(written) ? written.toLowerCase() : foldCase(written.normalize('NFKC')).normalize('NFKD');
  const plain = cased.replace(ACCENTS, '').normalize('NFKC');
  return ENGLISH.test(plain) ? stemmer(plain) : plain;
}
