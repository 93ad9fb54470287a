/** Tells whether a word is in one text. */
export type WordSieve = (word: string) => boolean;

/** Number of slots: three characters of five bits each select one. */
const SLOTS = 1 << 15;
/** The last sieve that filled each slot. All sieves share one table, because a new table for each text would cost most of the time. */
const filledBy = new Uint32Array(SLOTS);
let latest = 0;
/** In a shorter text, a search is as fast as a lookup. */
const SHORT = 512;
const slotsOfWord = new Map<string, readonly number[]>();

/**
 * Makes a sieve for a text. Rules search for a few hundred words, most of them absent. One pass over the text rules out
 * nearly all absent words; the others are searched for. Lookups are fast until the next sieve is made, and always correct.
 *
 * @param text any text
 */
export function wordSieve(text: string): WordSieve {
  if (text.length < SHORT) return (word) => text.includes(word);
  latest = latest === 0xffff_ffff ? 1 : latest + 1;
  const own = latest;
  let slot = 0;
  for (let at = 0; at < text.length; at += 1) {
    slot = ((slot << 5) | (text.charCodeAt(at) & 31)) & (SLOTS - 1);
    filledBy[slot] = own;
  }
  return (word) => {
    if (latest === own && word.length > 2) {
      // The first slot rules out most words without a lookup of the others.
      if (filledBy[slotAt(word, 0)] !== own) return false;
      const slots = slotsOf(word);
      for (let index = 1; index < slots.length; index += 1) if (filledBy[slots[index] ?? 0] !== own) return false;
    }
    return text.includes(word);
  };
}

function slotsOf(word: string): readonly number[] {
  let found = slotsOfWord.get(word);
  if (found === undefined) {
    found = Array.from({ length: Math.max(0, word.length - 2) }, (_, at) => slotAt(word, at));
    slotsOfWord.set(word, found);
  }
  return found;
}

/** The slot of the three characters at an offset. */
function slotAt(word: string, at: number): number {
  return ((word.charCodeAt(at) & 31) << 10) | ((word.charCodeAt(at + 1) & 31) << 5) | (word.charCodeAt(at + 2) & 31);
}
