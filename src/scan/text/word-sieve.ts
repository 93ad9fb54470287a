/** Says whether a word is in one text. */
export type WordSieve = (word: string) => boolean;

/** Three characters, five bits each, share one of these. */
const SLOTS = 1 << 15;
const slotsOfWord = new Map<string, readonly number[]>();

/**
 * Rules look for a few hundred words, most of which a text does not hold. One pass over the text says so of nearly all of them; the others are
 * looked for.
 *
 * @param text any text
 */
export function wordSieve(text: string): WordSieve {
  const filled = new Uint8Array(SLOTS);
  let slot = 0;
  for (let at = 0; at < text.length; at += 1) {
    slot = ((slot << 5) | (text.charCodeAt(at) & 31)) & (SLOTS - 1);
    filled[slot] = 1;
  }
  const known = new Map<string, boolean>();
  return (word) => {
    let isThere = known.get(word);
    if (isThere === undefined) {
      isThere = slotsOf(word).every((each) => filled[each] === 1) && text.includes(word);
      known.set(word, isThere);
    }
    return isThere;
  };
}

function slotsOf(word: string): readonly number[] {
  let found = slotsOfWord.get(word);
  if (found === undefined) {
    const codes = [...Array(word.length).keys()].map((index) => word.charCodeAt(index) & 31);
    found = codes.slice(2).map((code, index) => ((codes[index] ?? 0) << 10) | ((codes[index + 1] ?? 0) << 5) | code);
    slotsOfWord.set(word, found);
  }
  return found;
}
