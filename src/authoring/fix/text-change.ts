/** One change in a file. */
export interface TextChange {
  /** From 1; absent for a change of the whole file. */
  line?: number;
  /** For people, in the past tense. */
  what: string;
}
