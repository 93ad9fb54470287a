import { compareCodePoints } from './text.ts';

/**
 * Writes a value as canonical JSON: keys sorted by code point, no blanks, strings escaped as `JSON.stringify` does.
 * Members that are undefined are left out.
 *
 * @param value plain data: null, booleans, finite numbers, strings, arrays and objects of them
 * @returns the text; digests are taken over its UTF-8 bytes
 * @example
 * ```ts
 * import { canonicalJson } from 'skillcell/skills';
 *
 * console.log(canonicalJson({ b: [1, 2], a: 'x', c: undefined }));
 * // prints: {"a":"x","b":[1,2]}
 * ```
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members: string[] = [];
    for (const key of Object.keys(value).sort(compareCodePoints)) {
      const member = (value as Record<string, unknown>)[key];
      if (member !== undefined) members.push(`${JSON.stringify(key)}:${canonicalJson(member)}`);
    }
    return `{${members.join(',')}}`;
  }
  return JSON.stringify(value);
}
