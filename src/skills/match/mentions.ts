import { latePattern } from '../text/words/late-pattern.ts';
import { foldText } from '../text/words/fold-text.ts';
import { hasWord } from '../text/words/whole-word.ts';

const PLAIN_WORD = latePattern(() => /^[\p{L}\p{M}\p{N}_]+$/u);
const HYPHENS = /[-\u2010]/g;

/** Opening quotes, each with a possible closing quote. */
const QUOTES: readonly string[] = [
  '""',
  "''",
  '``',
  '“”',
  '„“',
  '„”',
  '””',
  '‘’',
  '‚‘',
  '’’',
  '«»',
  '»«',
  '‹›',
  '›‹',
  '「」',
  '『』',
];

/**
 * Folds a text for looking up names: hyphens count as blanks.
 *
 * @param text a query or a name
 */
export function foldForMention(text: string): string {
  return foldText(text.normalize('NFKC').replace(HYPHENS, ' '));
}

/**
 * Tells whether a query names a skill. A name that is one plain word counts only as `sk:word`, in quotes or
 * backticks, or directly beside the word "skill".
 *
 * @param query query folded by {@link foldForMention}
 * @param name id or name folded by {@link foldForMention}
 */
export function isMentioned(query: string, name: string): boolean {
  // Every form of a plain word holds the word itself, so one search rules out most names.
  if (!query.includes(name)) return false;
  if (!PLAIN_WORD().test(name)) return hasWord(query, name);
  return (
    hasWord(query, `sk:${name}`) ||
    hasWord(query, `${name} skill`) ||
    hasWord(query, `skill ${name}`) ||
    QUOTES.some((pair) => query.includes(`${pair[0]}${name}${pair[1]}`))
  );
}
