import { LINE_BREAKS } from './line-break.ts';

/** A layer of base64 around bytes, at one of the three offsets of a group of three bytes. */
export interface Base64Layer {
  /** Position of the first bit of the bytes in the first character that holds one of their bits. */
  firstBit: 0 | 2 | 4;
  /** For each character with a bit of the bytes: its possible values, 0 to 63. */
  digits: number[][];
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const ANY_BYTE = Array.from({ length: 256 }, (_, byte) => byte);
/** A digit of either alphabet, plain or escaped in JSON or a URL; or a line break, plain or escaped. */
const TOKEN = /%([0-9a-f]{2})|\\u00([0-9a-f]{2})|\\\/|\\r\\n|\\n|\r?\n|[\w+/-]/gi;

/**
 * Encodes bytes in the middle of unknown bytes.
 *
 * @param bytes for each byte, its possible values
 * @param offset unknown bytes before them, modulo 3
 */
export function encodeLayer(bytes: readonly (readonly number[])[], offset: 0 | 1 | 2): Base64Layer {
  const known = (index: number): readonly number[] => bytes[index - offset] ?? ANY_BYTE;
  const first = Math.floor((offset * 8) / 6);
  const last = Math.floor(((offset + bytes.length) * 8 - 1) / 6);
  const digits: number[][] = [];
  for (let index = first; index <= last; index++) {
    const start = index * 6;
    const [byte, shift] = [Math.floor(start / 8), start % 8];
    // The digit holds the end of one byte, and from the shift 4 on the beginning of the next.
    const fromNext = Math.max(0, shift - 2);
    const highs = distinct(known(byte), (value) => ((value << shift) & 0xff) >> 2);
    const lows = fromNext === 0 ? [0] : distinct(known(byte + 1), (value) => value >> (8 - fromNext));
    digits.push(highs.flatMap((high) => lows.map((low) => high | low)));
  }
  return { firstBit: ((offset * 8) % 6) as 0 | 2 | 4, digits };
}

/** The characters for a digit in both alphabets. */
export function digitCharacters(digit: number): string {
  if (digit === 62) return '+-';
  return digit === 63 ? '/_' : (ALPHABET[digit] ?? '');
}

/**
 * Tells whether the first three digits of a layer can hold one of the possible first bytes. The sets of the single digits allow more
 * combinations.
 */
export function mayBegin(digits: string, firstBit: number, firstBytes: readonly number[]): boolean {
  let bits = 0;
  for (const character of digits) {
    const digit = /^[\w+/-]$/.test(character) ? digitOf(character) : undefined;
    // A line break or an escape is rare enough.
    if (digit === undefined) return true;
    bits = (bits << 6) | digit;
  }
  return firstBytes.includes((bits >> (10 - firstBit)) & 0xff);
}

/**
 * Replaces bytes within base64. Line breaks, and the bits of neighbours in the first and the last digit, remain.
 *
 * @param text exactly the digits that hold a bit of the bytes, and line breaks
 * @param firstBit as in the layer
 * @param count number of the bytes
 * @param replace returns as many bytes
 */
export function replaceInLayer(
  text: string,
  firstBit: number,
  count: number,
  replace: (bytes: Buffer) => Buffer,
): string {
  const bits: number[] = [];
  for (const [token] of text.matchAll(TOKEN)) {
    const digit = digitOf(token);
    for (let bit = 5; digit !== undefined && bit >= 0; bit--) bits.push((digit >> bit) & 1);
  }
  const bytes = Buffer.alloc(count);
  for (let index = 0; index < count * 8; index++)
    bytes[index >> 3] = ((bytes[index >> 3] ?? 0) << 1) | (bits[firstBit + index] ?? 0);
  const replaced = replace(bytes);
  for (let index = 0; index < count * 8; index++)
    bits[firstBit + index] = ((replaced[index >> 3] ?? 0) >> (7 - (index & 7))) & 1;
  const isUrl = /[-_]/.test(text);
  let next = 0;
  return text.replace(TOKEN, (token) => {
    const old = digitOf(token);
    if (old === undefined) return token;
    let digit = 0;
    for (let bit = 0; bit < 6; bit++) digit = (digit << 1) | (bits[next++] ?? 0);
    return digit === old ? token : (digitCharacters(digit).at(isUrl ? -1 : 0) ?? '');
  });
}

/** The value of a token; undefined for a line break. */
function digitOf(token: string): number | undefined {
  if (LINE_BREAKS.includes(token)) return undefined;
  const character = token.length === 1 ? token : characterOf(token);
  if (character === '-') return 62;
  if (character === '_') return 63;
  return Math.max(0, ALPHABET.indexOf(character));
}

function characterOf(token: string): string {
  return token === '\\/' ? '/' : String.fromCharCode(Number.parseInt(token.slice(-2), 16));
}

function distinct(values: readonly number[], change: (value: number) => number): number[] {
  const changed = values.map(change);
  return changed.length === 1 ? changed : [...new Set(changed)];
}
