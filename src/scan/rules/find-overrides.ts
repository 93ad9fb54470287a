import type { FoundInFile } from '../scan-finding.ts';
import type { ScannedFile } from '../scanned-file.ts';
import { type FoldedText, foldForScan } from '../text/fold-for-scan.ts';
import { wordSieve, type WordSieve } from '../text/word-sieve.ts';
import { wordsFrom } from '../text/words-from.ts';
import { OVERRIDE_PHRASES } from './override-phrases.ts';

const LETTER = /[\p{L}\p{N}]/u;

/** Finds phrases that tell a model to ignore its instructions. They are more severe where people seldom look. */
export function* findOverrides(file: ScannedFile): Generator<FoundInFile> {
  for (const each of findPhrases(file.folded, file.holds)) {
    const at = each.at ?? 0;
    const isHidden = at < file.frontMatter.end || file.isInComment(at);
    yield isHidden ? { ...each, code: 'scan.override' } : each;
  }
  for (const { value, source, at } of file.escaped())
    for (const { message } of newPhrases(source, value))
      yield { code: 'scan.override', message: `${message} It is written with escapes.`, at };
  yield* overridesOfEntities(file);
}

/** Entities for blanks and letters. `&lt;` and `&amp;` are left out, because texts about markup use them. */
const ENTITY = /&(?:#(\d{2,6})|#[xX]([0-9a-fA-F]{2,5})|nbsp|ensp|emsp|thinsp|shy|zwnj|zwj);/g;

/** Phrases that are visible on a Markdown page, but whose source uses entities. */
function* overridesOfEntities({ isMarkdown, text, holds }: ScannedFile): Generator<FoundInFile> {
  if (!isMarkdown || !(text.includes('&#') || ['&nbsp;', '&ensp;', '&emsp;', '&thinsp;', '&shy;', '&zw'].some(holds)))
    return;
  const at = text.search(ENTITY);
  if (at < 0) return;
  const shown = text.replace(ENTITY, (whole, decimal?: string, hexadecimal?: string) => {
    if (decimal === undefined && hexadecimal === undefined) return /^&(?:shy|zw)/.test(whole) ? '' : ' ';
    const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
  for (const { message } of newPhrases(text, shown))
    yield { code: 'scan.override-text', message: `${message} It is written with entities.`, at };
}

/** Phrases of a text that its source does not have. */
function* newPhrases(source: string, made: string): Generator<FoundInFile> {
  let known = 0;
  for (const _phrase of phrasesIn(source)) known += 1;
  for (const found of phrasesIn(made)) {
    if (known === 0) yield found;
    else known -= 1;
  }
}

function phrasesIn(text: string): Generator<FoundInFile> {
  const folded = foldForScan(text);
  return findPhrases(folded, wordSieve(folded.text));
}

/** Finds phrases that tell a model to ignore its instructions, at most one of a kind on each line. */
function* findPhrases(folded: FoldedText, holds: WordSieve): Generator<FoundInFile> {
  const { text } = folded;
  /** Words by offset: several phrases begin with one word. */
  const phrases = new Map<number, string>();
  const phraseAt = (at: number): string => {
    let words = phrases.get(at);
    if (words === undefined) phrases.set(at, (words = wordsFrom(text, at)));
    return words;
  };
  for (const { begins, pattern, message } of OVERRIDE_PHRASES) {
    for (const word of begins) {
      if (!holds(word)) continue;
      let lineEnd = -1;
      for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
        if (at < lineEnd || (at > 0 && LETTER.test(text[at - 1] ?? '') && word < '\u0080')) continue;
        if (!pattern.test(phraseAt(at))) continue;
        yield { code: 'scan.override-text', message, at: folded.offsetOf(at) };
        const newline = text.indexOf('\n', at);
        lineEnd = newline < 0 ? text.length : newline;
      }
    }
  }
}
