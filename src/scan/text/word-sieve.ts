/** Says whether a word is in one text. */
export type WordSieve = (word: string) => boolean;

/** Three characters, five bits each, share one of these. */
const SLOTS = 1 << 15;
/** Which sieve has filled a slot last. One table serves all: a new one for each text would be most of the work. */
const filledBy = new Uint32Array(SLOTS);
let latest = 0;
/** In a shorter text, looking for a word takes no longer than looking it up. */
const SHORT = 512;
const slotsOfWord = new Map<string, readonly number[]>();

/**
 * Rules look for a few hundred words, most of which a text does not hold. One pass over the text says so of nearly all of them; the others are
 * looked for. The answers are quick until the next sieve is made, and right for ever.
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
      // Most words fall here, before anything is looked up.
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

/** The slot of the three characters from there on. */
function slotAt(word: string, at: number): number {
  return ((word.charCodeAt(at) & 31) << 10) | ((word.charCodeAt(at + 1) & 31) << 5) | (word.charCodeAt(at + 2) & 31);
}
