const BEYOND = /[\u0080-\uffff]/;

/**
 * Tells whether a text holds characters of ASCII only. Most do, and the classes of Unicode need not be compiled for them: the
 * first look at one takes a millisecond.
 *
 * @param text any text
 */
export function isAscii(text: string): boolean {
  return !BEYOND.test(text);
}
