const ESCAPE = /%[0-9a-f]{2}/gi;
const UNRESERVED = /[A-Za-z0-9._~-]/;

/** A path with equal texts for equivalent escapes: `/%61%2c` is `/a%2C` (RFC 3986, section 6.2.2). */
export function normalPath(path: string): string {
  return path.replace(ESCAPE, (escape) => {
    const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16));
    return UNRESERVED.test(character) ? character : escape.toUpperCase();
  });
}

/** The path of a request target. */
export function withoutQuery(target: string): string {
  const end = target.indexOf('?');
  return end < 0 ? target : target.slice(0, end);
}
