import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeText } from '../../../src/skills/text/decode-text.ts';
import {
  codePointLength,
  compareCodePoints,
  cutTo,
  firstSentence,
  hasHidden,
  oneLine,
  removeHidden,
  wrapText,
} from '../../../src/skills/text/text.ts';
import { cpuMs } from '../../fixtures/cpu-ms.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 60 });
const hiddenRich = fc
  .array(
    fc.constantFrom('a', 'é', ' ', '\u200b', '\u200c', '\u200d', '\u202e', '\ufe0f', '👩', '💻', 'م', '\u{e0041}'),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

describe('hidden characters', () => {
  test('are removed among any neighbours, and joiners stay only between letters outside ASCII', () => {
    expect(removeHidden('a\u200bb\u202ec\u{e0041}\ufeff')).toBe('abc');
    expect(removeHidden('👩\u200d💻 می\u200cخواهم ig\u200dnore x\u200c é\u200d\u200dé é\u200d')).toBe(
      '👩\u200d💻 می\u200cخواهم ignore x éé é',
    );
    expect(removeHidden('❤\ufe0f\u200d🔥')).toBe('❤\ufe0f\u200d🔥');
  });

  test('are removed in one pass, and hasHidden() tells whether removal changes the text', () => {
    fc.assert(
      fc.property(hiddenRich, (text) => {
        const clean = removeHidden(text);
        expect(hasHidden(clean)).toBe(false);
        expect(removeHidden(clean)).toBe(clean);
        expect(hasHidden(text)).toBe(clean !== text);
      }),
    );
  });
});

describe('oneLine()', () => {
  test('makes every run of blanks and control characters one blank', () => {
    expect(oneLine('  a\u0000\u0085\n\u2028b\u00a0\u200bc\u007f ')).toBe('a b c');
    expect(oneLine('plain text')).toBe('plain text');
    expect(oneLine('two  blanks')).toBe('two blanks');
  });

  test('is idempotent and leaves no control character', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const line = oneLine(text);
        expect(oneLine(line)).toBe(line);
        // oxlint-disable-next-line no-control-regex -- the pattern looks for control characters
        expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
      }),
    );
  });
});

test('cutTo() counts code points and drops blanks before the mark', () => {
  expect(cutTo('😀😀😀', 3)).toBe('😀😀😀');
  expect(cutTo('😀😀😀😀', 3)).toBe('😀😀…');
  expect(cutTo('ab cdef', 4)).toBe('ab…');
  expect(cutTo('ab', 1)).toBe('…');
});

test('codePointLength() agrees with the iteration of a string', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(codePointLength(text)).toBe([...text].length);
    }),
  );
});

test('compareCodePoints() orders by code point, also beyond U+FFFF', () => {
  expect(['😀', '\uff5e', 'a', 'ab', ''].toSorted(compareCodePoints)).toEqual(['', 'a', 'ab', '\uff5e', '😀']);
  fc.assert(
    fc.property(anyText, anyText, (a, b) => {
      const left = [...a].map((character) => character.codePointAt(0) ?? 0);
      const right = [...b].map((character) => character.codePointAt(0) ?? 0);
      const at = left.findIndex((value, index) => value !== right[index]);
      const expected = at < 0 ? left.length - right.length : (left[at] ?? 0) - (right[at] ?? -1);
      expect(Math.sign(compareCodePoints(a, b))).toBe(Math.sign(expected));
    }),
  );
});

test('wrapText() fills lines up to the width and lets a longer word stand alone', () => {
  expect(wrapText('aa bb cccccc d e', 5)).toEqual(['aa bb', 'cccccc', 'd e']);
  expect(wrapText('', 5)).toEqual([]);
});

test('firstSentence() knows abbreviations, versions, quotes and other scripts', () => {
  const cases: [string, string][] = [
    ['One. Two.', 'One.'],
    ['Works with v1.0 of it. And more.', 'Works with v1.0 of it.'],
    ['In the U.S. Army. Then.', 'In the U.S. Army.'],
    ['Say "hi!" Then go.', 'Say "hi!"'],
    ['Wait... what? Yes.', 'Wait... what?'],
    ['Does A. Then B.', 'Does A.'],
    ['生成表格。然后', '生成表格。'],
    ['no end here', 'no end here'],
    ['Plans. and goes on. End', 'Plans. and goes on.'],
  ];
  for (const [text, expected] of cases) expect(firstSentence(text)).toBe(expected);
  // ASCII texts and other texts use different expressions.
  for (const [text, expected] of cases) expect(firstSentence(`é ${text}`)).toBe(`é ${expected}`);
});

test('J05 our own expressions take linear time on hostile texts', () => {
  const takenMs = cpuMs(() => {
    for (const piece of ['.', '!)', 'a.', 'u.s.', ' ', '\t', 'é\u200d', '\u200d', '👩\u200d']) {
      const text = `${piece.repeat(100_000)}x`;
      firstSentence(text);
      expect(hasHidden(oneLine(text))).toBe(false);
    }
  });
  // A quadratic search would need twenty seconds for the first text alone.
  expect(takenMs).toBeLessThan(3000);
});

test('decodeText() takes strict UTF-8 up to 1 MiB only', () => {
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
  expect(decodeText(bytes('\ufeff\ufeffa\r\nb\rc'))).toEqual({ text: '\ufeffa\nb\rc', byteOrderMark: true });
  expect(decodeText(bytes('a\u0000'))).toEqual({ fault: 'encoding' });
  expect(decodeText(Uint8Array.of(0xc0, 0xaf))).toEqual({ fault: 'encoding' });
  expect(decodeText(Uint8Array.of(0xed, 0xa0, 0x80))).toEqual({ fault: 'encoding' });
  expect(decodeText(new Uint8Array(1024 * 1024).fill(97))).toHaveProperty('text');
  expect(decodeText(new Uint8Array(1024 * 1024 + 1).fill(97))).toEqual({ fault: 'too-large' });
});
