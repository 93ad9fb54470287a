import { latePattern } from './late-pattern.ts';

/** Korean particles that follow any word, and verb and copula endings that follow a noun, in all their forms. */
const ENDINGS = latePattern(
  () =>
    /^(?:들|님)?(?:은|는|이|가|을|를|의|에|에서|에게|께|한테|으로|로|와|과|랑|이랑|도|만|까지|부터|처럼|보다|마다|나|이나|라도|이라도|조차|마저|밖에|대로|하고|이며|야|요){0,3}$|^(?:하|해|했|한|할|함|합|되|돼|됐|된|될|됨|됩|시키|시켜|시킨|시킬|입니|이에|예요|이다|이었|였|이라|이고|인데)\p{Script=Hangul}{0,12}$/u,
);
const RUN = latePattern(() => /^\p{Script=Hangul}{1,16}(?![\p{L}\p{M}\p{N}_])/u);

const WORD_CHARACTER = latePattern(() => /[\p{L}\p{M}\p{N}_]/u);
/** Scripts without blanks between words. */
const NO_WORD_ENDS = latePattern(
  () => /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmr}\p{scx=Mymr}]/u,
);

/**
 * Tells whether a word or phrase occurs as whole words. A word ends where its neighbour is no letter, mark, digit or `_`.
 * The word's own last character does not matter, so `c++` and `node.js` are words. Scripts without blanks have no word
 * ends. Korean particles and verb endings behind a word do not belong to it.
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

/** Whether only Korean particles, or the ending of a verb, follow a word up to the next border. */
function isKoreanEnding(rest: string): boolean {
  const run = RUN().exec(rest)?.[0];
  return run !== undefined && ENDINGS().test(run);
}
