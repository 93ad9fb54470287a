/** An expression that `recheck` does not call linear, and the longest text that it gets. */
export interface ExpressionException {
  file: string;
  /** A part of its source text that identifies it; empty for all of the file. */
  part: string;
  /** Most characters of a text that it gets. `test/scripts/expressions.test.ts` tries it at this length. */
  bound: number;
  /** The reason for the bound, or for its linear time. */
  reason: string;
}

/** Each is tried at its bound, with texts on which a backtracking expression would take minutes. */
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
