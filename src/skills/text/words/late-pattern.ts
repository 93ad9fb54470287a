/**
 * Keeps a regular expression from being made before it is needed: V8 looks the classes of Unicode up when an expression is
 * made, whether it is used or not, which takes up to a millisecond each.
 *
 * @param make makes the expression
 * @returns gives the one expression
 */
export function latePattern(make: () => RegExp): () => RegExp {
  let made: RegExp | undefined;
  return () => (made ??= make());
}
