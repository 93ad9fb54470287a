/** Headers with one value by RFC 9110, 9112, 6265 and 6454, and those in which services take a user or a signature. */
const SINGLE: ReadonlySet<string> = new Set(
  (
    'authorization content-length content-location content-range content-type cookie date from host if-modified-since if-range ' +
    'if-unmodified-since max-forwards origin proxy-authorization range referer transfer-encoding user-agent ' +
    'x-amz-content-sha256 x-amz-date x-amz-security-token x-api-key'
  ).split(' '),
);

/**
 * Finds a header that stands twice though it may stand once: one server takes the first value, and another the last.
 *
 * @param rawHeaders names and values in turn, as Node gives them
 * @param more further headers that may stand once, such as those of secrets
 * @returns its name in lower case
 */
export function ambiguousHeader(
  rawHeaders: readonly string[],
  more: ReadonlySet<string> = new Set(),
): string | undefined {
  const further = new Set([...more].map(folded));
  const seen = new Set<string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = folded(rawHeaders[index] ?? '');
    if (seen.has(name) && (SINGLE.has(name) || further.has(name))) return rawHeaders[index]?.toLowerCase();
    seen.add(name);
  }
  return undefined;
}

/** Servers that speak CGI or WSGI take `Content_Type` for `Content-Type`. */
function folded(name: string): string {
  return name.toLowerCase().replaceAll('_', '-');
}
