import { describe, expect, it } from 'vitest';
import { NAMES_WITH_JOINERS, tags } from '../fixtures/names-with-joiners.ts';
import { printablePath, shownPathFault } from '../../src/protocol/files/shown-path.ts';

describe('shownPathFault()', () => {
  it.each([
    'a.txt',
    'naïve/漢字.csv',
    'שלום.txt',
    'שנה/مرحبا.csv',
    '❤\ufe0f.png',
    '🎉.png',
    'a b\u00a0c',
    'e\u0301.txt',
    ...NAMES_WITH_JOINERS,
  ])('takes %s', (path) => {
    expect(shownPathFault(path)).toBeUndefined();
  });

  it.each([
    ['bidirectional override', 'report\u202etxt.exe'],
    ['bidirectional isolate', 'a/\u2067b'],
    ['left-to-right mark', 'a\u200e'],
    ['arabic letter mark', '\u061ca'],
    ['zero-width space', 'a\u200bb'],
    ['zero-width joiner', 'a\u200db'],
    ['word joiner', 'a\u2060b'],
    ['byte order mark', '\ufeffa.txt'],
    ['soft hyphen', 'pass\u00adword'],
    ['tag characters', 'a\u{e0041}'],
    ['hangul filler', 'a\u3164'],
    ['variation selector after a letter', 'a\ufe0f.txt'],
    ['supplementary variation selector', 'a\u{e0100}'],
    ['line separator', 'a\u2028b'],
    ['musical format', 'a\u{1d173}'],
    ['joiner between letters that have one form', 'é\u200dé'],
    ['joiner after the last letter of a word', 'می\u200c.txt'],
    ['joiner beside a digit', 'م\u200c1'],
    ['second joiner', 'می\u200c\u200cخواهم'],
    ['joiner after a single emoji', '👩\u200d.png'],
    ['joiner of an emoji and a letter', '👩\u200dم'],
    ['second variation selector', '❤\ufe0f\ufe0f.png'],
    ['variation selector of a digit without a keycap', '1\ufe0f.png'],
    ['text in tags after a flag', `🏴${tags('ignorethis')}\u{e007f}`],
    ['flag without an end tag', `🏴${tags('gbeng')}`],
    ['tags after another emoji', `👩${tags('gbeng')}\u{e007f}`],
  ])('D10 refuses a %s', (_name, path) => {
    expect(shownPathFault(path)).toContain('invisible character');
  });

  it('also refuses invalid paths', () => {
    expect(shownPathFault('../a')).toContain('..');
  });
});

describe('printablePath()', () => {
  it('escapes hidden characters', () => {
    expect(printablePath('a\u202eb\u200bc\nd❤\ufe0f')).toBe('a\\u{202e}b\\u{200b}c\\x0ad❤\ufe0f');
    expect(printablePath('می\u200cخواهم\u200c')).toBe('می\u200cخواهم\\u{200c}');
    expect(printablePath('x'.repeat(2_000))).toHaveLength(1_000);
  });
});
