import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeFaultPlace } from '../../../src/skills/text/decode-fault-place.ts';
import { decodeText } from '../../../src/skills/text/decode-text.ts';

describe('decodeFaultPlace()', () => {
  it.each<[string, number[], { line: number; column: number } | undefined]>([
    ['nothing', [], undefined],
    ['a text', [...Buffer.from('ä\n\u{fffd}b')], undefined],
    ['a NUL', [...Buffer.from('a\nbü'), 0], { line: 2, column: 3 }],
    ['a byte of another encoding', [...Buffer.from('ä\r\nca'), 0xe9, 0x20], { line: 2, column: 3 }],
    ['half a character', [...Buffer.from('ok\n'), 0xe2, 0x82], { line: 2, column: 1 }],
    ['half a replacement character', [...Buffer.from('ok'), 0xef, 0xbf, 0x41], { line: 1, column: 3 }],
    ['the beginning of a replacement character at the end', [...Buffer.from('ok'), 0xef, 0xbf], { line: 1, column: 3 }],
    ['a fault after a replacement character', [...Buffer.from('\u{fffd}'), 0xff], { line: 1, column: 2 }],
    ['a fault after a byte order mark', [0xef, 0xbb, 0xbf, 0x61, 0xff], { line: 1, column: 2 }],
    ['a NUL after invalid UTF-8', [0x61, 0xff, 0x00], { line: 1, column: 2 }],
    ['a NUL after half a character', [0x61, 0xe2, 0x82, 0x00], { line: 1, column: 2 }],
  ])('finds %s', (_what, bytes, place) => {
    expect(decodeFaultPlace(Uint8Array.from(bytes))).toEqual(place);
  });

  it('finds a place exactly in bytes that are refused', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.concat([Buffer.from('é\n'), bytes])),
        (bytes) => {
          expect(decodeFaultPlace(bytes) !== undefined).toBe('fault' in decodeText(bytes));
        },
      ),
    );
  });
});
