/** One thing that was mended in a file. */
export interface TextChange {
  /** From 1; absent for what is about the file as a whole. */
  line?: number;
  /** For people, in the past tense. */
  what: string;
}
