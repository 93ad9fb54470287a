import { describe, expect, it } from 'vitest';
import { ACCESS_PATTERNS } from '../../src/scan/rules/patterns/access-patterns.ts';
import { findPatterns, type ScanPattern } from '../../src/scan/rules/patterns/find-patterns.ts';
import { MARKER_PATTERNS } from '../../src/scan/rules/patterns/marker-patterns.ts';
import { OVERRIDE_PHRASES } from '../../src/scan/rules/override-phrases.ts';
import { WRITE_PATTERNS } from '../../src/scan/rules/patterns/write-patterns.ts';
import { scannedFile } from '../../src/scan/scanned-file.ts';
import type { ScanCode } from '../../src/scan/scan-rules.ts';
import { scanTree } from '../../src/scan/scan-tree.ts';
import { wordsFrom } from '../../src/scan/text/words-from.ts';
import { CODE_CASES } from '../fixtures/scan/code-cases.ts';
import { FILE_CASES } from '../fixtures/scan/file-cases.ts';
import { PATTERN_CASES, SECRETS } from '../fixtures/scan/pattern-cases.ts';
import { type CaseFiles, type RuleCases, treeOf } from '../fixtures/scan/scan-case.ts';
import { TEXT_CASES } from '../fixtures/scan/text-cases.ts';

const ALL = [TEXT_CASES, CODE_CASES, FILE_CASES, PATTERN_CASES];
const casesOf = (code: ScanCode): RuleCases[] => ALL.flatMap((cases) => cases[code] ?? []);
const filesOf = (files: CaseFiles): ReturnType<typeof scannedFile>[] =>
  [...treeOf(files)].map(([path, file]) => scannedFile(path, file));
const isFoundBy = (pattern: ScanPattern, files: CaseFiles): boolean =>
  filesOf(files).some((file) => [...findPatterns(file, [pattern])].length > 0);

/** Places of a code, in the form of the cases. */
const placesOf = (code: ScanCode, files: CaseFiles): string[] =>
  scanTree(treeOf(files))
    .findings.filter((finding) => finding.code === code)
    .map(({ path, line, column }) => [path, line, column].join(':'));

describe.each(Object.entries(PATTERN_CASES) as [ScanCode, RuleCases][])('scan cases: %s', (code, { found, near }) => {
  it('finds matches of the pattern alone, and skips cases that one condition rules out', () => {
    for (const { name, files, at } of found) expect(placesOf(code, files), name).toContain(at);
    for (const { name, files } of near) expect(placesOf(code, files), name).toEqual([]);
    expect(found.length + near.length).toBeGreaterThan(0);
  });
});

const PATTERNS = [...MARKER_PATTERNS, ...ACCESS_PATTERNS, ...WRITE_PATTERNS].map((pattern) => ({
  ...pattern,
  shown: String(pattern.pattern).slice(0, 60),
}));

describe('scan cases of patterns', () => {
  it.each(PATTERNS)('have a case of $code that only $shown finds', (pattern) => {
    const found = casesOf(pattern.code).flatMap((cases) => cases.found);
    expect(found.some(({ files }) => isFoundBy(pattern, files))).toBe(true);
  });

  it.each(PATTERNS.filter(({ apart, place }) => apart !== undefined || place !== undefined))(
    'have a near miss of $code that $shown would find within a word, or at another place',
    ({ apart: _apart, place: _place, ...pattern }) => {
      const near = casesOf(pattern.code).flatMap((cases) => cases.near);
      expect(near.some(({ files }) => isFoundBy(pattern, files))).toBe(true);
    },
  );

  it.each(PATTERNS.filter(({ behind }) => behind !== undefined))(
    'have a near miss of $code that $shown would find without its condition on the text behind',
    ({ behind: _behind, ...pattern }) => {
      const near = casesOf(pattern.code).flatMap((cases) => cases.near);
      expect(near.some(({ files }) => isFoundBy(pattern, files))).toBe(true);
    },
  );

  it.each(OVERRIDE_PHRASES.map((phrase) => ({ ...phrase, shown: phrase.begins.join(', ') })))(
    'have a true case of the phrase that begins with $shown',
    ({ begins, pattern }) => {
      const texts = (['scan.override-text', 'scan.override'] as const)
        .flatMap(casesOf)
        .flatMap(({ found }) => found.flatMap(({ files }) => filesOf(files).map(({ folded }) => folded.text)));
      const holds = texts.filter((text) =>
        begins.some((word) => {
          for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
            if (pattern.test(wordsFrom(text, at))) return true;
          return false;
        }),
      );
      expect(holds).not.toEqual([]);
    },
  );
});

describe('scan cases of secrets', () => {
  const textOf = (length: number, letters: string): string =>
    letters.repeat(Math.ceil(length / letters.length)).slice(0, length);

  it.each(SECRETS)('find a secret that begins with %j, but not one that is too short', (begins, length, letters) => {
    const found = (text: string): number =>
      scanTree(treeOf({ 'a.txt': `x = ${text}\n` })).findings.filter(({ code }) => code === 'scan.credential').length;
    expect(found(begins + textOf(length, letters))).toBe(1);
    expect(found(begins + textOf(8, letters))).toBe(0);
  });

  it('find a signed token of three parts, but not one of two', () => {
    const part = textOf(40, LETTERS);
    const found = (text: string): number =>
      scanTree(treeOf({ 'a.txt': `x = ${text}\n` })).findings.filter(({ code }) => code === 'scan.credential').length;
    expect(found(`${['ey', 'J'].join('')}${part}.${part}.${part}`)).toBe(1);
    expect(found(`${['ey', 'J'].join('')}${part}.${part}${part}`)).toBe(0);
  });
});

const LETTERS = 'q9Zr7Xw4Kt8Vn2Mb5Gc3Hd6Jf';
