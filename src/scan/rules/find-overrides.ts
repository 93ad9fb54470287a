import type { FoundInFile } from '../scan-finding.ts';
import type { ScannedFile } from '../scanned-file.ts';
import { foldForScan } from '../text/fold-for-scan.ts';
import { isInRanges } from '../text/text-ranges.ts';
import { wordSieve } from '../text/word-sieve.ts';
import { findPhrases } from './find-phrases.ts';

const ESCAPE = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))/g;
const ANY_ESCAPE = /\\[xuU\n]/;

/** Finds phrases that talk a model out of its instructions; where people seldom look they are graver. */
export function findOverrides(file: ScannedFile): FoundInFile[] {
  const found = findPhrases(file.folded, file.holds);
  for (const each of found) {
    const at = each.at ?? 0;
    if (at < file.frontMatter.end || isInRanges(file.comments(), at)) each.code = 'scan.override';
  }
  return [...found, ...escapedOverrides(file), ...overridesOfEntities(file)];
}

/** Blanks and letters by number. What stands for `<` and `&` is how texts about markup are written. */
const ENTITY = /&(?:#(\d{2,6})|#[xX]([0-9a-fA-F]{2,5})|nbsp|ensp|emsp|thinsp|shy|zwnj|zwj);/g;

/** Phrases of Markdown that a page shows, and that its text spells with entities. */
function overridesOfEntities({ isMarkdown, text, holds }: ScannedFile): FoundInFile[] {
  if (!isMarkdown || !(text.includes('&#') || ['&nbsp;', '&ensp;', '&emsp;', '&thinsp;', '&shy;', '&zw'].some(holds)))
    return [];
  const at = text.search(ENTITY);
  if (at < 0) return [];
  const shown = text.replace(ENTITY, (whole, decimal?: string, hexadecimal?: string) => {
    if (decimal === undefined && hexadecimal === undefined) return /^&(?:shy|zw)/.test(whole) ? '' : ' ';
    const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
  return phrasesIn(shown)
    .slice(phrasesIn(text).length)
    .map(({ message }) => ({
      code: 'scan.override-text',
      message: `${message} It is written with entities.`,
      at,
    }));
}

/** Phrases of the frontmatter that YAML makes of escapes. */
function escapedOverrides(file: ScannedFile): FoundInFile[] {
  const block = file.text.slice(0, file.frontMatter.end);
  const at = block.search(ANY_ESCAPE);
  if (at < 0) return [];
  const text = block.replaceAll('\\\n', '').replace(ESCAPE, (whole, two?: string, four?: string, eight?: string) => {
    const code = Number.parseInt(two ?? four ?? eight ?? '', 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
  return phrasesIn(text)
    .slice(phrasesIn(block).length)
    .map(({ message }) => ({ code: 'scan.override', message: `${message} It is written with escapes.`, at }));
}

function phrasesIn(text: string): FoundInFile[] {
  const folded = foldForScan(text);
  return findPhrases(folded, wordSieve(folded.text));
}
