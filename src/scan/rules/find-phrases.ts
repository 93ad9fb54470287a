import type { FoundInFile } from '../scan-finding.ts';
import type { FoldedText } from '../text/fold-for-scan.ts';
import type { WordSieve } from '../text/word-sieve.ts';
import { wordsFrom } from '../text/words-from.ts';
import { OVERRIDE_PHRASES } from './override-phrases.ts';

const LETTER = /[\p{L}\p{N}]/u;

/** Finds phrases that talk a model out of what it was told, one of a kind a line. */
export function* findPhrases(folded: FoldedText, holds: WordSieve): Generator<FoundInFile> {
  const { text } = folded;
  /** Several phrases begin with one word. */
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
