/** A text that is searched for many words. */
export interface SearchedText {
  text: string;
  /** A bit for each trigram of the text, at the upper bits of its hash; different trigrams may share a bit. */
  bits: Uint32Array;
  /** Right shift of a hash that gives the number of its bit. */
  shift: number;
}

/** A word that is searched for in many texts. */
export interface SoughtWord {
  text: string;
  /** Hashes of some of its trigrams. */
  trigrams: readonly number[];
}

const FEWEST_BITS_LOG2 = 13;
const MOST_BITS_LOG2 = 22;
const BITS_A_CHARACTER = 8;
const TRIGRAMS_A_WORD = 4;

/**
 * Prepares a text for {@link holdsWord}, in time linear to its length.
 *
 * @param text any text
 */
export function searchedText(text: string): SearchedText {
  const wanted = Math.ceil(Math.log2(text.length * BITS_A_CHARACTER + 1));
  const log2 = Math.min(MOST_BITS_LOG2, Math.max(FEWEST_BITS_LOG2, wanted));
  const bits = new Uint32Array(2 ** (log2 - 5));
  const shift = 32 - log2;
  for (let at = 0; at + 2 < text.length; at += 1) {
    const bit = trigramHash(text, at) >>> shift;
    bits[bit >>> 5] = (bits[bit >>> 5] ?? 0) | (1 << (bit & 31));
  }
  return { text, bits, shift };
}

/**
 * Prepares a word for {@link holdsWord}.
 *
 * @param text any text
 */
export function soughtWord(text: string): SoughtWord {
  const count = Math.max(0, text.length - 2);
  const taken = Math.min(count, TRIGRAMS_A_WORD);
  const places = Array.from({ length: taken }, (_, index) => Math.floor((index * count) / taken));
  return { text, trigrams: places.map((at) => trigramHash(text, at)) };
}

/**
 * Tells whether a text holds a word at any place. A few bits rule out most absent words without a search.
 *
 * @param where the text
 * @param word the word
 */
export function holdsWord({ text, bits, shift }: SearchedText, word: SoughtWord): boolean {
  for (const trigram of word.trigrams) {
    const bit = trigram >>> shift;
    if (((bits[bit >>> 5] ?? 0) & (1 << (bit & 31))) === 0) return false;
  }
  return text.includes(word.text);
}

function trigramHash(text: string, at: number): number {
  const mixed =
    Math.imul(text.charCodeAt(at), 0x9e3779b1) ^
    Math.imul(text.charCodeAt(at + 1), 0x85ebca77) ^
    Math.imul(text.charCodeAt(at + 2), 0xc2b2ae3d);
  return Math.imul(mixed ^ (mixed >>> 15), 0x27d4eb2f);
}
