import { randomInt } from 'node:crypto';
import { areAlike } from '../secrets/make-placeholder.ts';

const LENGTH = 20;
/** Digits of base32, of which ids of AWS consist. */
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
/** Beginning of the id of temporary keys. */
const TEMPORARY = 'ASIA';
const LASTING = 'AKIA';

/**
 * Makes the placeholder of an id of an AWS key: random, in the form of such an id, which programs check. Services in the manner of S3 have
 * ids of other forms; their placeholders have this form as well.
 *
 * @param value the id that it stands for
 * @param others values and placeholders that must not be confused with the placeholder
 */
export function makeAccessKeyId(value: string, others: readonly string[] = []): string {
  for (;;) {
    let id = value.startsWith(TEMPORARY) ? TEMPORARY : LASTING;
    while (id.length < LENGTH) id += DIGITS[randomInt(DIGITS.length)] ?? '';
    if (![value, ...others].some((other) => areAlike(id, other))) return id;
  }
}
