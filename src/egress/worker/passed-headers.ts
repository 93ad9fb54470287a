/** Headers that concern one connection only (RFC 9110, section 7.6.1), and those of proxies. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * The headers that are passed on, as a flat list of names and values: without those that concern one connection, also those that `Connection` names.
 *
 * @param raw flat list, as received
 * @param without further names in lower case
 */
export function passedHeaders(raw: readonly string[], without: readonly string[] = []): string[] {
  const dropped = new Set([...HOP_BY_HOP, ...without]);
  for (const [name, value] of pairs(raw))
    if (name.toLowerCase() === 'connection')
      for (const named of value.split(',')) dropped.add(named.trim().toLowerCase());
  return [...pairs(raw)].flatMap(([name, value]) => (dropped.has(name.toLowerCase()) ? [] : [name, value]));
}

/** Names and values of a flat list. */
export function* pairs(raw: readonly string[]): Generator<[string, string]> {
  for (let index = 0; index + 1 < raw.length; index += 2) yield [raw[index] ?? '', raw[index + 1] ?? ''];
}
