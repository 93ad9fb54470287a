import { latePattern } from './words/late-pattern.ts';

/**
 * Characters that a reader cannot see but a model can: Unicode's default-ignorable characters, without the emoji selectors
 * FE0E and FE0F. The joiners 200C and 200D depend on their neighbours.
 */
const HIDDEN_ALWAYS =
  '\\u{AD}\\u{34F}\\u{61C}\\u{115F}\\u{1160}\\u{17B4}\\u{17B5}\\u{180B}-\\u{180E}\\u{200B}\\u{200E}\\u{200F}' +
  '\\u{202A}-\\u{202E}\\u{2060}-\\u{206F}\\u{3164}\\u{FE00}-\\u{FE0D}\\u{FEFF}\\u{FFA0}\\u{FFF0}-\\u{FFF8}' +
  '\\u{1BCA0}-\\u{1BCA3}\\u{1D173}-\\u{1D17A}\\u{E0000}-\\u{E0FFF}';

const JOINERS = '\\u{200C}\\u{200D}';

/** Possible neighbours of a joiner that is kept: outside ASCII, neither hidden nor a joiner. */
const NEIGHBOUR = `[^\\u{0}-\\u{7F}${HIDDEN_ALWAYS}${JOINERS}]`;

const HIDDEN = `[${HIDDEN_ALWAYS}]|(?<!${NEIGHBOUR})[${JOINERS}]|[${JOINERS}](?!${NEIGHBOUR})`;

const HIDDEN_FIRST = latePattern(() => new RegExp(HIDDEN, 'u'));
/** Matches each hidden character separately. */
export const HIDDEN_EACH: () => RegExp = latePattern(() => new RegExp(HIDDEN, 'gu'));
/**
 * All 16-bit units that can begin a hidden character or a joiner, with all high surrogates. Most texts hold none of them.
 * A search for single units is many times faster than a search for code points with lookarounds.
 */
const CANDIDATE =
  /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ud800-\udbff\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufff8]/;

/**
 * Tells whether a text holds a character that would be removed from a prompt.
 *
 * @param text any text
 * @returns true if {@link removeHidden} would change it
 */
export function hasHidden(text: string): boolean {
  return hiddenAt(text) >= 0;
}

/**
 * Finds the first character that would be removed from a prompt.
 *
 * @param text any text
 * @returns its offset, or -1
 */
export function hiddenAt(text: string): number {
  return CANDIDATE.test(text) ? text.search(HIDDEN_FIRST()) : -1;
}

/**
 * Removes every hidden character. Joiners inside emoji, Persian and Indic words stay.
 *
 * @param text any text
 * @returns the text without hidden characters; the same string if there are none
 */
export function removeHidden(text: string): string {
  return CANDIDATE.test(text) ? text.replace(HIDDEN_EACH(), '') : text;
}
