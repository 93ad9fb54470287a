/**
 * Delays making a regular expression until its first use. V8 looks up Unicode classes when it makes an expression, used or
 * not, which takes up to a millisecond each.
 *
 * @param make makes the expression
 * @returns a function that returns the one expression
 */
export function latePattern(make: () => RegExp): () => RegExp {
  let made: RegExp | undefined;
  return () => (made ??= make());
}
