import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { expressionFaults } from '../../scripts/check-expressions.ts';
import { EXPRESSION_EXCEPTIONS } from '../../scripts/expressions/exceptions.ts';
import { type Expression, findExpressions } from '../../scripts/expressions/find-expressions.ts';
import { wordsFrom } from '../../src/scan/text/words-from.ts';
import { asksForSkills } from '../../src/skills/match/asks-for-skills.ts';
import { firstSentence } from '../../src/skills/text/words/first-sentence.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The expressions of a few files. */
function expressionsOf(files: Readonly<Record<string, string>>): Expression[] {
  const folder = mkdtempSync(join(tmpdir(), 'expressions-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    return findExpressions(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('findExpressions()', () => {
  it('finds literals, and calls of RegExp with constants, including constants of other files', () => {
    const found = expressionsOf({
      'src/a.ts':
        "import { B as C } from './b.ts';\nconst A = 'x' + `y`;\nconst D = /d+/;\nnew RegExp(`^${A}${C}${D.source}`, 'gu');\n",
      'src/b.ts': "export const B = 'b{2}';\n",
      'runtime/c.mts': 'const make = (x: string): RegExp => new RegExp(`^${x}`);\n',
    });
    expect(found.map(({ file, line, pattern }) => [file, line, pattern])).toEqual([
      ['src/a.ts', 3, { source: 'd+', flags: '' }],
      ['src/a.ts', 4, { source: '^xyb{2}d+', flags: 'gu' }],
      ['runtime/c.mts', 1, undefined],
    ]);
  });
});

describe('expressionFaults()', () => {
  const found = expressionsOf({ 'src/a.ts': 'export const A = /^(a+)+$/;\nexport const B = /b+/g;\n' });

  it('names non-linear and unjudged expressions, and unused exceptions', () => {
    expect(expressionFaults(found, { '/^(a+)+$/': 'exponential', '/b+/g': 'linear' }, [])).toEqual([
      'src/a.ts:1: an expression must be linear, got verdict "exponential" for /^(a+)+$/',
    ]);
    expect(expressionFaults(found, { '/^(a+)+$/': 'linear' }, [{ file: 'src/c.ts', part: 'x' }])).toEqual([
      'src/a.ts:2: an expression must be linear, got verdict "not judged" for /b+/g',
      'src/c.ts: no expression needs the exception, got "x"',
    ]);
    expect(
      expressionFaults(found, { '/^(a+)+$/': 'exponential', '/b+/g': 'linear' }, [{ file: 'src/a.ts', part: '(a+)+' }]),
    ).toEqual([]);
  });
});

/** Texts that make an expression backtrack: long runs that its classes and repetitions match, and an end that they do not match. */
const PUMPS = [
  'a',
  '1',
  ' ',
  '\t',
  '\n',
  '.',
  '-',
  '_',
  '/',
  '`',
  "'",
  '"',
  '#',
  '~',
  '{',
  '=',
  '!',
  'a.',
  '.1',
  '- ',
  '1. ',
  'a ',
  'a-',
  "'/",
  '${A:-',
  '${A',
  '"""',
  "<<'a",
  '\n ',
  'sk-',
  'Bearer ',
  '/a',
  'Skill:',
  '1Y',
  'P1',
  '(',
  '\\',
  '\u00e9',
];
const ENDS = ['', '\u0000', '!', '\n'];

/** An expression of quadratic time would need minutes for this length. */
const TRIED = 128 * 1024;

describe('each exception handles a text of its bound quickly', () => {
  const known = findExpressions(root);

  it('and the assumptions of the bounds hold', () => {
    const words = `ignore ${'previous '.repeat(20)}instructions`;
    expect(wordsFrom(words, 0).split(' ')).toHaveLength(12);
    expect(wordsFrom('a'.repeat(50), 0)).toHaveLength(24);
    expect(wordsFrom(`${'abcdefghij'.repeat(9)} `.repeat(20), 0).length).toBeLessThanOrEqual(300);
    expect(asksForSkills(`${' '.repeat(500)}skills?`)).toBe(true);
    expect(asksForSkills(`${'?'.repeat(193)}skills`)).toBe(true);
    expect(asksForSkills(`${'?'.repeat(195)}skills`)).toBe(false);
    // Characters more than 40 before a mark are not examined, and so are not part of an abbreviation.
    expect(firstSentence(`Look ${'a.'.repeat(10)}b. and more.`)).toBe(`Look ${'a.'.repeat(10)}b. and more.`);
    expect(firstSentence(`Look ${'a.'.repeat(30)}b. C`)).toBe(`Look ${'a.'.repeat(30)}b. C`);
  });

  it.each(EXPRESSION_EXCEPTIONS)('$file $part', ({ file, part, bound }) => {
    const own = known.filter((each) => each.file === file && each.written.includes(part));
    expect(own.length).toBeGreaterThan(0);
    const length = Math.min(bound, TRIED);
    for (const { pattern } of own) {
      // An unknown part is always a fixed word of the project.
      const { source, flags } = pattern ?? { source: '^\\t*name:?\\s+(\\d+)( kB)?$', flags: 'm' };
      const expression = new RegExp(source, flags.includes('g') ? flags : `${flags}g`);
      for (const pump of PUMPS)
        for (const end of ENDS) {
          const text = pump.repeat(Math.floor(length / pump.length)).slice(0, length - end.length) + end;
          expect(text.replace(expression, '').length).toBeLessThanOrEqual(text.length);
        }
    }
  });
});
