import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutTo } from '../../../src/skills/text/text.ts';
import { catalogEntries, type CatalogFormat } from '../../../src/skills/catalog/catalog-entry.ts';
import { writeCatalog } from '../../../src/skills/catalog/write-catalog.ts';
import type { Skill } from '../../../src/contracts/skills/skill.ts';
import { codeOf } from '../code-of.ts';
import { withLibrary } from '../../conformance/library.ts';

const unit = fc.constantFrom('a', 'b', '&', '<', 'é', '漢', '😀');
const word = fc.oneof(
  { weight: 9, arbitrary: fc.string({ unit, minLength: 1, maxLength: 9, size: 'max' }) },
  { weight: 1, arbitrary: fc.string({ unit, minLength: 60, maxLength: 90, size: 'max' }) },
);
const description = fc.array(word, { minLength: 1, maxLength: 40, size: 'max' }).map((words) => words.join(' '));

function skillOf(text: string, index: number): Skill {
  const id = `public.s${index}`;
  return {
    ...{ id, namespace: 'public', skillId: `s${index}`, name: `s${index}`, rootKind: 'builtin', root: 0 },
    ...{ rootPath: '/r', dir: `s${index}`, fields: { description: text }, extra: {}, body: 'Body.', brief: '' },
    ...{ tools: [], sources: [], files: [], digest: '', diagnostics: [] },
  };
}

function write(descriptions: readonly string[], format: CatalogFormat, budget?: number) {
  const skills = descriptions.map(skillOf);
  const ids = skills.map(({ id }) => id);
  return writeCatalog(catalogEntries(ids, new Map(skills.map((skill) => [skill.id, skill]))), format, budget);
}

const tokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / 4);

describe('writeCatalog() within a budget', () => {
  test('cuts descriptions to the largest length that fits, like a trial of every length', () => {
    const parts = fc.double({ min: 0.2, max: 1, noNaN: true });
    const formats = fc.constantFrom<CatalogFormat>('text', 'xml', 'markdown');
    let cuts = 0;
    fc.assert(
      fc.property(fc.array(description, { minLength: 1, maxLength: 4 }), formats, parts, (texts, format, part) => {
        const full = write(texts, format).text;
        const budget = Math.floor(tokens(full) * part);
        const written = write(texts, format, budget);
        const longest = Math.max(...texts.map((text) => [...text].length));
        const lengths = Array.from({ length: Math.max(0, longest - 60) }, (_, index) => longest - 1 - index);
        const cutAt = (length: number): string =>
          write(
            texts.map((text) => cutTo(text, length)),
            format,
          ).text;
        const best = tokens(full) <= budget ? full : lengths.map(cutAt).find((text) => tokens(text) <= budget);
        if (best === undefined) expect(['ids', 'omitted']).toContain(written.cut.level);
        else expect(written.text).toBe(best);
        if (written.cut.level === 'descriptions') cuts += 1;
        if (written.cut.level !== 'omitted') expect(tokens(written.text)).toBeLessThanOrEqual(budget);
      }),
      { numRuns: 150 },
    );
    expect(cuts).toBeGreaterThan(10);
  });

  test('finds that length for every budget if the descriptions differ in length', () => {
    const texts = [`${'wörd '.repeat(14)}end`, `${'word '.repeat(16)}end`, 'x'.repeat(70)];
    for (const format of ['text', 'xml', 'markdown'] as const) {
      const lengths = Array.from({ length: 24 }, (_, index) => 83 - index);
      const cuts = lengths.map(
        (length) =>
          write(
            texts.map((text) => cutTo(text, length)),
            format,
          ).text,
      );
      for (let budget = tokens(cuts.at(-1) ?? ''); budget <= tokens(cuts[0] ?? ''); budget += 1) {
        expect(write(texts, format, budget).text).toBe(cuts.find((text) => tokens(text) <= budget));
      }
    }
  });

  test('keeps the longest beginning of the ids and counts the rest', () => {
    const texts = Array.from({ length: 30 }, () => 'x'.repeat(300));
    for (const format of ['text', 'xml', 'markdown'] as const) {
      const whole = write(texts, format, 100_000).text;
      for (let budget = 1; budget < 200; budget += 7) {
        const { text, cut } = write(texts, format, budget);
        expect(text).not.toBe(whole);
        if (cut.level !== 'omitted') continue;
        const kept = 30 - cut.omitted.length;
        expect(text.endsWith(`… and ${30 - kept} more skills: ask for the catalog by name.\n`)).toBe(true);
        expect(cut.omitted[0]).toBe(`public.s${kept}`);
        if (kept > 0) expect(tokens(text)).toBeLessThanOrEqual(budget);
        const next = write(texts, format, budget + 7).cut.omitted.length;
        expect(next).toBeLessThanOrEqual(cut.omitted.length);
        if (format !== 'markdown') continue;
        const lines = Array.from({ length: kept + 1 }, (_, index) => `- **public.s${index}**\n`).join('');
        expect(text.startsWith(lines)).toBe(false);
        const longer = `${lines}… and ${29 - kept} more skills: ask for the catalog by name.\n`;
        expect(tokens(longer)).toBeGreaterThan(budget);
      }
    }
  });

  test.each([Number.NaN, -1, 1.5, Number.POSITIVE_INFINITY])('skillsGalleryText() refuses a budget of %d', (budget) => {
    withLibrary({ files: {} }, ({ subsystem }) => {
      expect(codeOf(() => subsystem.skillsGalleryText({ budget }))).toBe('usage.invalid');
    });
  });
});
