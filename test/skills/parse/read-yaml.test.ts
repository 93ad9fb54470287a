import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readYaml } from '../../../src/skills/parse/read-yaml.ts';
import { dataOf } from '../../../src/skills/parse/yaml-values.ts';

test('a whole number beyond 2^53 is the text that was written, in any notation', () => {
  const written = ['1e30', '-1E16', '9007199254740993', '0x20000000000001', '1e3', '0x1f', '9007199254740992'];
  const reading = readYaml(`[${written.join(', ')}]`);
  expect(reading.ok && dataOf(reading.root)).toEqual([...written.slice(0, 4), 1000, 31, 2 ** 53]);
});
