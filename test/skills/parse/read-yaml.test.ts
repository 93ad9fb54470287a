import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readYaml } from '../../../src/skills/parse/yaml/read-yaml.ts';
import { dataOf } from '../../../src/skills/parse/yaml/yaml-values.ts';

test('a whole number beyond 2^53 stays text, in any notation', () => {
  const written = ['1e30', '-1E16', '9007199254740993', '0x20000000000001', '1e3', '0x1f', '9007199254740992'];
  const reading = readYaml(`[${written.join(', ')}]`);
  expect(reading.ok && dataOf(reading.root)).toEqual([...written.slice(0, 4), 1000, 31, 2 ** 53]);
});

const WORDS = [
  'null',
  'Null',
  'NULL',
  'nULL',
  '~',
  'true',
  'True',
  'TRUE',
  'False',
  'fALSE',
  'yes',
  '.inf',
  '-.INF',
  '.nan',
];
const NUMBERS = ['0', '-1', '+1', '007', '0o7', '0x1F', '1.', '.5', '1e3', '-1.5E-3', '1_000', '2026-11-22'];

test('a plain value is null, a truth value, a number or a text as in the core schema', () => {
  const same = (value: string): void => {
    const text = `[a, ${value}]\n`;
    const reading = readYaml(text);
    if (!reading.ok) return;
    const expected: unknown[] = parse(text, { schema: 'core' });
    if (!expected.some((item) => typeof item === 'number' && item > 2 ** 53))
      expect(dataOf(reading.root)).toEqual(expected);
  };
  for (const value of [...WORDS, ...NUMBERS]) same(value);
  const piece = fc.constantFrom(...WORDS, ...NUMBERS, 'a', ' ', '.', '-', '+', 'é', '\u2028');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 3 }), (pieces) => same(pieces.join(''))),
    { numRuns: 500 },
  );
});
