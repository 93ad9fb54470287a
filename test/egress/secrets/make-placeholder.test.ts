import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { makePlaceholder } from '../../../src/egress/secrets/make-placeholder.ts';

describe('makePlaceholder()', () => {
  test.each([
    ['ghp_16C7e42F292c6912E7710c838347Ae178B4a', 'ghp_'],
    [`github_pat_${'a1B2'.repeat(20)}`, 'github_pat_'],
    ['sk-1234567890abcdef', 'sk-'],
    [`sk-ant-api03-${'a1B2'.repeat(24)}`, 'sk-ant-api03-'],
    ['xoxb-123456789012-abcdefghijkl', 'xoxb-'],
    ['glpat-abcdefghij1234567890', 'glpat-'],
    ['AKIAIOSFODNN7EXAMPLE', 'AKIA'],
    ['npm_abcdefghijklmnopqrst', 'npm_'],
    ['hunter2-hunter2', ''],
    ['hello-world', ''],
    ['a-passwd', 'a-'],
  ])('keeps the public beginning of %j', (value, beginning) => {
    const made = Array.from({ length: 20 }, () => makePlaceholder(value));
    for (const placeholder of made) {
      expect(placeholder.startsWith(beginning)).toBe(true);
      expect(placeholder.slice(beginning.length)).toMatch(/^[A-Za-z0-9]+$/);
    }
    expect(new Set(made).size).toBe(20);
    expect(new Set(made.map((placeholder) => placeholder[beginning.length])).size).toBeGreaterThan(1);
  });

  test('is as long as the value in UTF-8, and neither contains the other', () => {
    const values = fc.string({ unit: 'grapheme', minLength: 8, maxLength: 50 });
    fc.assert(
      fc.property(values, (value) => {
        const placeholder = makePlaceholder(value);
        expect(placeholder).toHaveLength(Buffer.byteLength(value));
        expect(placeholder.includes(value) || value.includes(placeholder)).toBe(false);
        for (let length = 1; length < placeholder.length; length++)
          expect(value.startsWith(placeholder.slice(-length))).toBe(false);
      }),
    );
  });

  test('fits into both alphabets of base64, next to any bytes', () => {
    for (let time = 0; time < 100; time++)
      for (const offset of [0, 1, 2]) {
        const bytes = Buffer.concat([
          Buffer.alloc(offset, 0xff),
          Buffer.from(makePlaceholder('password-1')),
          Buffer.of(0xff),
        ]);
        const [first, end] = [Math.floor((offset * 8) / 6), Math.ceil(((offset + 10) * 8) / 6)];
        expect(bytes.toString('base64').slice(first, end)).toMatch(/^[A-Za-z0-9]+$/);
      }
  });

  test('differs from other placeholders and values', () => {
    const others = [...'abcdefghijklmnopqrstuvwxyz0123'].map((letter) => `${letter}        `);
    for (let time = 0; time < 50; time++) expect(makePlaceholder('password-1', others)).toMatch(/[4-9]$/);
  });

  test('refuses a value that is too short', () => {
    expect(() => makePlaceholder('short')).toThrow('at least 8 bytes');
  });
});
