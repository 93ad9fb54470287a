import { hash } from 'node:crypto';
import type { SkillFile } from '../../contracts/skills/skill.ts';
import { canonicalJson } from './canonical-json.ts';
import { compareCodePoints } from './text.ts';

/**
 * Digest of bytes, or of the UTF-8 bytes of a text.
 *
 * @param data bytes or text
 * @returns `sha256:<64 hex>`
 * @example
 * ```ts
 * import { canonicalJson, digestOf } from 'skillcell/skills';
 *
 * console.log(digestOf(canonicalJson({ b: 2, a: 1 })) === digestOf('{"a":1,"b":2}'));
 * // prints: true
 * console.log(digestOf('').length);
 * // prints: 71
 * ```
 */
export function digestOf(data: Uint8Array | string): string {
  return `sha256:${hash('sha256', data)}`;
}

/**
 * Digest of a skill: sha256 over the lines `<path>\0<x|->\0<file digest>\n`, sorted by path in code-point order.
 * The order of `files` makes no difference.
 *
 * @param files the manifest of one skill folder
 * @returns `sha256:<64 hex>`
 */
export function skillDigest(files: readonly Pick<SkillFile, 'path' | 'digest' | 'executable'>[]): string {
  const sorted = files.toSorted((a, b) => compareCodePoints(a.path, b.path));
  return digestOf(sorted.map((file) => `${file.path}\0${file.executable ? 'x' : '-'}\0${file.digest}\n`).join(''));
}

/**
 * Digest of a catalog; it covers the consumer and the ids.
 *
 * @param consumer id of the consumer that the catalog was made for, or null
 * @param ids full ids in the catalog's order
 * @returns `sha256:<64 hex>`
 */
export function catalogDigest(consumer: string | null, ids: readonly string[]): string {
  return digestOf(canonicalJson({ consumer, ids }));
}

/**
 * Digest of a descriptor: of its canonical JSON without the member `digest`.
 *
 * @param descriptor a descriptor with or without its digest
 * @returns `sha256:<64 hex>`
 */
export function descriptorDigest(descriptor: object): string {
  return digestOf(canonicalJson({ ...descriptor, digest: undefined }));
}
