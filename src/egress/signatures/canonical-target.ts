/** Signing names of the services that encode the path once. All others encode the encoded path again. */
const ENCODED_ONCE: ReadonlySet<string> = new Set(['s3', 's3-outposts', 's3-object-lambda', 's3express']);

/** Whether a service encodes the path once. */
export function encodesOnce(service: string): boolean {
  return ENCODED_ONCE.has(service);
}

/**
 * The path that a signature covers. S3 decodes the path of a request and encodes it anew, so a path with raw parentheses is signed as one with
 * encoded parentheses. A service of the other kind takes the path as it is sent.
 *
 * @returns undefined for a path that cannot be decoded
 */
export function canonicalPath(path: string, service: string): string | undefined {
  if (!encodesOnce(service)) return path;
  const segments = path.split('/').map((segment) => decoded(segment));
  return segments.includes(undefined) ? undefined : segments.map((segment) => encoded(segment ?? '')).join('/');
}

/** A parameter of a query; a part that cannot be decoded is undefined. */
export type QueryParameter = readonly [name: string | undefined, value: string | undefined];

/** The parameters of a query. Services take a plus sign for a space. */
export function readQuery(query: string): QueryParameter[] {
  return query
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const plain = part.replaceAll('+', ' ');
      const end = plain.indexOf('=');
      return end < 0 ? [decoded(plain), ''] : [decoded(plain.slice(0, end)), decoded(plain.slice(end + 1))];
    });
}

function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    // The exception is the answer.
    return undefined;
  }
}
