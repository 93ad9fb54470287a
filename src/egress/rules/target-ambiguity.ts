import { normalPath, withoutQuery } from './normal-path.ts';

/** Their encodings are refused as well: a server that decodes first sees the plain form. */
const FAULTS: readonly (readonly [RegExp, string])[] = [
  [/[\\\u0080-\uffff]/, 'a backslash, or a character that is not ASCII'],
  [/%2e/i, 'an encoded dot'],
  [/%(?:2f|5c)/i, 'an encoded slash or backslash'],
  [/%(?:[01][0-9a-f]|7f)/i, 'an encoded control character'],
];
/** A second decoding would change the path. Where a proxy and its server each decode once, `%252e%252e` becomes `..`. */
const ESCAPED_ESCAPE = /%25[0-9A-Fa-f]{2}/;
/** Servers of Java cut off parameters of segments before they look for dots: `/..;a=1/` is `/../`. */
const PARAMETERS = /;|%3B/;
const NOT_IN_TARGETS = /[\0- \u007f#]/;

/**
 * Finds the part of a request target that two servers can read in two ways. The query is only looked at for characters that no target has.
 *
 * @param target path and query as received
 * @returns a noun, such as "a dot segment"; undefined for a clear target
 */
export function targetAmbiguity(target: string): string | undefined {
  if (NOT_IN_TARGETS.test(target)) return 'a space, a control character or a number sign';
  const path = withoutQuery(target);
  if (!path.startsWith('/')) return 'no slash at its start';
  const fault = FAULTS.find(([pattern]) => pattern.test(path));
  if (fault !== undefined) return fault[1];
  if (!isDecodable(path)) return 'an encoding that is not UTF-8';
  const plain = normalPath(path);
  if (ESCAPED_ESCAPE.test(plain)) return 'a twofold encoding';
  const segments = plain.slice(1).split('/');
  if (segments.at(-1) === '') segments.pop();
  const names = segments.map((segment) => segment.split(PARAMETERS, 1)[0] ?? '');
  if (names.includes('')) return 'an empty segment';
  return names.includes('.') || names.includes('..') ? 'a dot segment' : undefined;
}

/** False for lone percent signs, and for longer encodings of ASCII, which old servers decode: `%c0%ae` to a dot. */
function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    // The exception is the answer.
    return false;
  }
}
