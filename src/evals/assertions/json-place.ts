import { quotedText } from '../../contracts/quoted-text.ts';

/** What stands at a place of a JSON value, or why nothing does. */
export type PlacedValue = { value: unknown } | { fault: string };

/**
 * Follows a JSON pointer (RFC 6901).
 *
 * @param pointer checked; without it the whole value
 */
export function jsonAt(whole: unknown, pointer = ''): PlacedValue {
  let value = whole;
  for (const token of pointer.split('/').slice(1)) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
    const isThere = typeof value === 'object' && value !== null && Object.hasOwn(value, key);
    if (!isThere || (Array.isArray(value) && !/^\d+$/.test(key)))
      return { fault: `it has nothing at ${quotedText(pointer)}` };
    value = (value as Record<string, unknown>)[key];
  }
  return { value };
}

/** Whether two JSON values are equal, the order of keys aside; numbers by as much as they may differ. */
export function jsonEquals(one: unknown, other: unknown, tolerance = 0): boolean {
  if (typeof one === 'number' && typeof other === 'number') return Math.abs(one - other) <= tolerance;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length) return false;
  return keys.every(
    (key) =>
      Object.hasOwn(other, key) &&
      jsonEquals((one as Record<string, unknown>)[key], (other as Record<string, unknown>)[key], tolerance),
  );
}

/** The beginning of a JSON value, as a reason shows it. */
export function shownJson(value: unknown): string {
  return value === undefined ? 'nothing' : quotedText(JSON.stringify(value)).slice(1, -1).replaceAll('\\"', '"');
}
