import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wordsOf } from '../../../src/library/search/search-words.ts';

const words = (text: string): string[] => [...wordsOf(text)].map(({ word }) => word);

describe('wordsOf()', () => {
  it('folds case, width, accents and English endings', () => {
    expect(words('Converting CONVERTED conversions')).toEqual(['convert', 'convert', 'convers']);
    expect(words('Ｃａｆé cafe\u0301 CAFÉ STRASSE straße')).toEqual(['cafe', 'cafe', 'cafe', 'strass', 'strass']);
    expect(words('Ärger über naïve Größe')).toEqual(['arger', 'uber', 'naiv', 'gross']);
  });

  it('splits names, so that each part is found', () => {
    expect(words('pdf-press wiki_submit node.js v1.0 C++')).toEqual([
      ...['pdf', 'press', 'wiki', 'submit', 'node', 'js', 'v1', '0', 'c'],
    ]);
  });

  it('finds words in texts without blanks, and keeps vowel signs', () => {
    expect(words('我们把表格转换成图表。')).toContain('表格');
    expect(words('データを表にする')).toContain('データ');
    expect(words('हिन्दी में')).toEqual(['हिन्दी', 'में']);
  });

  it('has no words for emoji, signs and blanks', () => {
    expect(words('📦 🧮️ "*-" \u0000 …')).toEqual([]);
  });

  it('splits ASCII texts like the Unicode segmenter', () => {
    const segmenter = new Intl.Segmenter('en', { granularity: 'word' });
    const bySegments = (text: string): string[] =>
      [...segmenter.segment(text)].flatMap(({ segment, isWordLike }) =>
        isWordLike === true ? (segment.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []) : [],
      );
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii', maxLength: 60 }), (text) => {
        expect([...wordsOf(text)].map(({ start, end }) => text.slice(start, end))).toEqual(bySegments(text));
      }),
    );
  });

  it('returns the position of each word', () => {
    for (const text of ['one two', 'größer als 表格转换', '👩‍👩‍👧 naïve\nx'])
      for (const { word, start, end } of wordsOf(text)) expect(words(text.slice(start, end))).toEqual([word]);
  });
});
