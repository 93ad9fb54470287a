const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const LETTER_N = 0x6e;
const LETTER_R = 0x72;

/** Breaks within hex and base64: those of lines, plain and escaped in JSON, and the separators of a dump of bytes. */
export const LINE_BREAKS: readonly string[] = ['\n', '\r\n', '\\n', '\\r\\n', ' ', ':'];
export const LONGEST_BREAK = 4;

/** Length of the break at a position; 0 without one, -1 if the bytes end within one. */
export function breakLength(bytes: Buffer, at: number): number {
  const first = bytes[at];
  if (first === LINE_FEED || first === SPACE || first === COLON) return 1;
  const second = bytes[at + 1];
  if (first === CARRIAGE_RETURN) return second === undefined ? -1 : second === LINE_FEED ? 2 : 0;
  if (first !== BACKSLASH) return 0;
  if (second === undefined) return -1;
  if (second === LETTER_N) return 2;
  if (second !== LETTER_R) return 0;
  const [third, fourth] = [bytes[at + 2], bytes[at + 3]];
  if (third === undefined || (third === BACKSLASH && fourth === undefined)) return -1;
  return third === BACKSLASH && fourth === LETTER_N ? 4 : 0;
}
