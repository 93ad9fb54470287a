import { isKoreanEnding } from './korean-endings.ts';
import { latePattern } from './late-pattern.ts';

const WORD_CHARACTER = latePattern(() => /[\p{L}\p{M}\p{N}_]/u);
/** Scripts that are written without blanks between words. */
const NO_WORD_ENDS = latePattern(
  () => /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmr}\p{scx=Mymr}]/u,
);

/**
 * Tells whether a word or phrase occurs as whole words. A word ends where its neighbour is no letter, mark, digit or
 * `_`, whatever its own last character is, so `c++` and `node.js` are words; scripts without blanks have no word
 * ends, and Korean particles and verb endings behind a word are no part of it.
 *
 * @param text folded text
 * @param word folded word or phrase
 */
export function hasWord(text: string, word: string): boolean {
  if (word === '') return false;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const end = at + word.length;
    if (
      isBorder(characterBefore(text, at), characterAt(text, at)) &&
      (isBorder(characterAt(text, end), characterBefore(text, end)) || isKoreanEnding(text.slice(end, end + 24)))
    )
      return true;
  }
  return false;
}

function isBorder(outside: string, inside: string): boolean {
  return !WORD_CHARACTER().test(outside) || NO_WORD_ENDS().test(outside) || NO_WORD_ENDS().test(inside);
}

function characterAt(text: string, at: number): string {
  const codePoint = text.codePointAt(at);
  return codePoint === undefined ? '' : String.fromCodePoint(codePoint);
}

function characterBefore(text: string, at: number): string {
  const unit = text.charCodeAt(at - 1);
  const low = unit >= 0xdc00 && unit <= 0xdfff;
  return text.slice(Math.max(0, at - (low ? 2 : 1)), at);
}
