import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { measureJson } from '../../../src/tools/calls/measure-json.ts';

const caps = { maxBytes: 1_000_000 };

describe('measureJson()', () => {
  test('returns the size of the output of JSON.stringify, for any JSON value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const copy: unknown = JSON.parse(JSON.stringify(value));
        fc.pre(!JSON.stringify(copy).includes('__proto__'));
        expect(measureJson(copy, caps)).toEqual({ bytes: Buffer.byteLength(JSON.stringify(copy)) });
      }),
    );
  });

  test.each([undefined, Number.NaN, Infinity, 1n, Symbol('x'), () => 1, new Date(), new Map(), [undefined]])(
    'refuses values outside of JSON',
    (value) => {
      expect(measureJson({ value }, caps)).toHaveProperty('fault');
    },
  );
});
