import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldForScan } from '../../../src/scan/text/fold-for-scan.ts';

describe('foldForScan()', () => {
  it('maps each folded character to its original offset', () => {
    const letters = fc.constantFrom('a', 'B', ' ', '\n', '\t', '\u200b', '\u0430', 'é', '表', '😀', '\ufb01');
    fc.assert(
      fc.property(fc.array(letters, { maxLength: 400 }), (parts) => {
        const text = parts.join('');
        const { text: folded, offsetOf } = foldForScan(text);
        let last = -1;
        for (let at = 0; at < folded.length; at += 1) {
          const offset = offsetOf(at);
          expect(offset).toBeGreaterThanOrEqual(last);
          last = offset;
          const [one, other] = [folded[at] ?? '', text[offset] ?? ''];
          if (/[b表\n]/.test(one)) expect(other.toLowerCase()).toBe(one);
          if (one === ' ') expect(other).toMatch(/[ \t]/);
        }
        expect(folded).not.toMatch(/[\t\u200bA-Z]/);
      }),
    );
  });

  it('folds many gaps of one long line in one pass', () => {
    const { text, offsetOf } = foldForScan('a  '.repeat(3_000_000));
    expect(text.length).toBe(6_000_000);
    expect(offsetOf(5_999_998)).toBe(8_999_997);
  });
});
