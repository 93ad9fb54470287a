/** A run of marks is looked at once, from its beginning: a text of dots only would take its square otherwise. */
const SENTENCE_END = /[。！？]|(?<![.!?])[.!?]+["'”’»)\]}›]*(?=\s|$)/gu;

/** Words whose dot is no end. */
const ABBREVIATION =
  /(?<![\p{L}\p{M}\p{N}])(?:vs|cf|Dr|Mr|Mrs|Ms|Prof|St|No|Fig|approx|incl|Inc|Ltd|Co|Jr|Sr|(?:\p{L}\.)+\p{L})$/u;

const LOWER_CASE_NEXT = /^\s*\p{Ll}/u;

/** The longest abbreviation with what stands before it; keeps the look at it short on long texts. */
const REACH = 40;

/**
 * Finds the first sentence. An abbreviation (`e.g.`, `Dr.`) or a version (`v1.0`) doesn't end one.
 *
 * @param text one line of text
 * @returns the first sentence with its end, or the whole text if no sentence ends
 */
export function firstSentence(text: string): string {
  for (const match of text.matchAll(SENTENCE_END)) {
    const end = match.index + match[0].length;
    if (!/^[.!?]/.test(match[0])) return text.slice(0, end);
    if (match[0].startsWith('.') && ABBREVIATION.test(text.slice(Math.max(0, match.index - REACH), match.index)))
      continue;
    if (LOWER_CASE_NEXT.test(text.slice(end, end + REACH))) continue;
    return text.slice(0, end);
  }
  return text;
}
