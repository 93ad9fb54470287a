// oxlint-disable-next-line no-control-regex -- the whole of ASCII is meant
const ASCII = /^[\u0000-\u007f]*$/;

/**
 * Tells whether a text holds characters of ASCII only. Most do, and the classes of Unicode need not be compiled for them: the
 * first look at one takes a millisecond.
 *
 * @param text any text
 */
export function isAscii(text: string): boolean {
  return ASCII.test(text);
}
