import { fullId, withoutRange, withoutScheme } from '../text/bare-reference.ts';

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
  const text = withoutScheme(withoutRange(reference));
  const shortId = SHORT_ID.exec(text);
  const shown = shortId === null ? undefined : scope.shortIds?.[Number(shortId[1]) - 1];
  if (shown !== undefined) return scope.has(shown) ? shown : undefined;
  const bare = text.replace(/^skills\./, '');
  if (scope.has(bare)) return bare;
  const id = fullId(bare);
  return scope.has(id) ? id : undefined;
}
