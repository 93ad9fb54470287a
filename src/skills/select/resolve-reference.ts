/** What a reference can be looked up in. */
export interface ReferenceScope {
  /** Whether a skill of this full id is loaded. */
  has(id: string): boolean;
  /** Full ids of the snapshot in hand; without it there are no short ids. */
  shortIds?: readonly string[] | undefined;
}

const SHORT_ID = /^sk([1-9][0-9]{0,8})$/i;

/**
 * Finds what a reference means. In this order: strip `sk:` or `skill:` · a short id of the snapshot · strip one
 * `skills.` · a full id · without a dot, `public.<id>`.
 *
 * @param reference as it was given
 * @param scope loaded skills, and the snapshot in hand
 * @returns the full id of a loaded skill, or undefined
 */
export function resolveReference(reference: string, scope: ReferenceScope): string | undefined {
  let text = reference.trim().normalize('NFKC');
  text = stripPrefix(text, ['sk:', 'skill:']);
  const shortId = SHORT_ID.exec(text);
  const shown = shortId === null ? undefined : scope.shortIds?.[Number(shortId[1]) - 1];
  if (shown !== undefined) return scope.has(shown) ? shown : undefined;
  text = stripPrefix(text, ['skills.']);
  if (scope.has(text)) return text;
  const short = text.includes('.') ? undefined : `public.${text}`;
  return short !== undefined && scope.has(short) ? short : undefined;
}

/**
 * Takes from a reference what stands before the id.
 *
 * @param reference as it was given
 * @returns what would be looked up among the ids
 */
export function bareReference(reference: string): string {
  return stripPrefix(stripPrefix(reference.trim().normalize('NFKC'), ['sk:', 'skill:']), ['skills.']);
}

function stripPrefix(text: string, prefixes: readonly string[]): string {
  const prefix = prefixes.find((candidate) => text.startsWith(candidate));
  return prefix === undefined ? text : text.slice(prefix.length);
}
