import { latePattern } from '../../skills/text/words/late-pattern.ts';
import type { FoundInFile } from '../scan-finding.ts';
import type { ScannedFile } from '../scanned-file.ts';
import { CONFUSABLE_LETTERS, LETTERS_OF_SCIENCE } from '../text/confusable-letters.ts';

const PLAIN_LETTER = /[a-z]/i;
/** Full-width letters, and mathematical letters. */
const STYLED_LETTERS = '\\uff21-\\uff3a\\uff41-\\uff5a\\u{1d400}-\\u{1d7cb}';
const STYLED = /[\uff21-\uff3a\uff41-\uff5a\u{1d400}-\u{1d7cb}]/u;
/** Up to this number of mathematical letters in a word is a formula. */
const OF_FORMULAS = 3;

/** Finds words in letters of another alphabet than they seem to be written in. */
export function* findLookAlikes({ text, isAscii }: ScannedFile): Generator<FoundInFile> {
  if (isAscii) return;
  for (const { start, word } of wordsBeyondAscii(text)) {
    const letters = [...word];
    const others = letters.filter((letter) => CONFUSABLE_LETTERS.has(letter) && !LETTERS_OF_SCIENCE.has(letter));
    const folded = letters.map((letter) => CONFUSABLE_LETTERS.get(letter) ?? letter.normalize('NFKC')).join('');
    // A Latin word with a few foreign letters. The reverse, such as a brand in a Russian word, is normal.
    if (others.length > 0 && PLAIN_LETTER.test(word) && /^[\p{Script=Latin}\p{M}]+$/u.test(folded)) {
      yield {
        code: 'scan.look-alike',
        message: `A word mixes alphabets; it looks like ${JSON.stringify(folded)}.`,
        at: start,
      };
    } else if (letters.filter((letter) => STYLED.test(letter)).length > OF_FORMULAS) {
      yield {
        code: 'scan.look-alike',
        message: `A word is written in other letters than ${JSON.stringify(folded)}.`,
        at: start,
      };
    }
  }
}

/** Words with a letter that looks like another one. */
function* wordsBeyondAscii(text: string): Generator<{ start: number; word: string }> {
  let end = 0;
  for (const { index, 0: letter } of text.matchAll(suspect())) {
    if (index < end) continue;
    let start = index;
    for (let before = letterBefore(text, start); before > 0; before = letterBefore(text, start)) start -= before;
    end = index + letter.length;
    for (let after = letterAt(text, end); after > 0; after = letterAt(text, end)) end += after;
    yield { start, word: text.slice(start, end) };
  }
}

const LETTER = /^[\p{L}\p{M}]$/u;

/** Number of 16-bit units of the letter at an offset; 0 if no letter is there. */
function letterAt(text: string, at: number): number {
  const code = text.codePointAt(at);
  if (code === undefined) return 0;
  if (code < 0x80) return /[a-z]/i.test(text[at] ?? '') ? 1 : 0;
  return LETTER.test(String.fromCodePoint(code)) ? (code > 0xffff ? 2 : 1) : 0;
}

function letterBefore(text: string, at: number): number {
  const isPair = at > 1 && text.charCodeAt(at - 1) >= 0xdc00 && text.charCodeAt(at - 1) <= 0xdfff;
  const units = isPair ? 2 : 1;
  return at >= units && letterAt(text, at - units) === units ? units : 0;
}

const suspect = latePattern(() => new RegExp(`[${[...CONFUSABLE_LETTERS.keys()].join('')}${STYLED_LETTERS}]`, 'gu'));
