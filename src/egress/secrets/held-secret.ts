/** A secret of a job on the host: its value, and the placeholder that the programs of the job see. */
export interface HeldSecret {
  name: string;
  /** At least 8 bytes of UTF-8 without control characters. */
  value: string;
  /** ASCII, as long as the value in UTF-8. */
  placeholder: string;
  /** Name of the only header in which the placeholder is replaced, in lower case. */
  header: string;
}
