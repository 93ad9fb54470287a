import { isAscii } from './ascii.ts';
import { latePattern } from './late-pattern.ts';

/** The lookbehind checks a run of marks once, from its beginning; a text of dots would otherwise take quadratic time. */
const SENTENCE_END = /[。！？]|(?<![.!?])[.!?]+["'”’»)\]}›]*(?=\s|$)/gu;

/** Context around a dot which shows that the dot ends no sentence. */
interface NoEnd {
  /** An abbreviation before the dot. */
  before: () => RegExp;
  /** Text after the dot that continues in lower case. */
  after: () => RegExp;
}

const OF_ANY_SCRIPT: NoEnd = noEnd('\\p{L}', '\\p{M}\\p{N}', '\\p{Ll}');
const OF_ASCII: NoEnd = noEnd('A-Za-z', '0-9', 'a-z');

function noEnd(letters: string, inWords: string, lowerCase: string): NoEnd {
  const words = `vs|cf|Dr|Mr|Mrs|Ms|Prof|St|No|Fig|approx|incl|Inc|Ltd|Co|Jr|Sr|(?:[${letters}]\\.)+[${letters}]`;
  return {
    before: latePattern(() => new RegExp(`(?<![${letters}${inWords}])(?:${words})$`, 'u')),
    after: latePattern(() => new RegExp(`^\\s*[${lowerCase}]`, 'u')),
  };
}

/** Longest abbreviation, with the text before it, in UTF-16 units. It keeps the search short in long texts. */
const REACH = 40;

/**
 * Finds the first sentence. An abbreviation (`e.g.`, `Dr.`) or a version (`v1.0`) doesn't end one.
 *
 * @param text one line of text
 * @returns the first sentence with its end, or the whole text if no sentence ends
 */
export function firstSentence(text: string): string {
  const { before, after } = isAscii(text) ? OF_ASCII : OF_ANY_SCRIPT;
  for (const match of text.matchAll(SENTENCE_END)) {
    const end = match.index + match[0].length;
    if (!/^[.!?]/.test(match[0])) return text.slice(0, end);
    if (match[0].startsWith('.') && before().test(text.slice(Math.max(0, match.index - REACH), match.index))) continue;
    if (after().test(text.slice(end, end + REACH))) continue;
    return text.slice(0, end);
  }
  return text;
}
