/** An expression that `recheck` does not call linear, and how long a text it gets all the same. */
export interface ExpressionException {
  file: string;
  /** A part of it as it is written, by which it is known; empty for all of the file. */
  part: string;
  /** The most characters of a text that it sees. `test/scripts/expressions.test.ts` tries it at so many. */
  bound: number;
  /** What keeps the text so short, or the time in bounds. */
  reason: string;
}

/** Each is tried at its bound, with texts on which one that goes back would take minutes. */
export const EXPRESSION_EXCEPTIONS: readonly ExpressionException[] = [
  {
    file: 'src/skills/text/words/first-sentence.ts',
    part: 'new RegExp',
    bound: 40,
    reason: 'it sees 40 characters on a side',
  },
  { file: 'src/skills/match/asks-for-skills.ts', part: '', bound: 200, reason: 'a longer query asks for nothing' },
  { file: 'src/scan/rules/override-phrases.ts', part: '', bound: 300, reason: 'it sees twelve words of 24 letters' },
  {
    file: 'src/scan/rules/find-look-alikes.ts',
    part: 'CONFUSABLE',
    bound: 1024 * 1024,
    reason: 'it is one class of characters',
  },
];
