import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runFolder } from '../../scripts/vectors.ts';
import { withFolder } from './library.ts';
import { writeTree } from './write-tree.ts';

const PASSING = {
  id: 'x-1',
  why: 'one',
  input: { url: 'https://example.com/' },
  expect: { url: 'https://example.com/' },
};
const FAILING = { ...PASSING, id: 'x-2', expect: { url: 'https://example.org/' } };
const STRANGE = { ...PASSING, id: 'x-3', expect: { nothing: true } };

function run(files: Record<string, unknown>): { code: number; last: string | undefined; lines: string } {
  return withFolder((dir) => {
    writeTree(dir, Object.fromEntries(Object.entries(files).map(([name, value]) => [name, JSON.stringify(value)])));
    const lines: string[] = [];
    const code = runFolder(dir, (line) => lines.push(line));
    return { code, last: lines.at(-1), lines: lines.join('\n') };
  });
}

describe('npm run vectors', () => {
  test('counts the passed and failed cases', () => {
    expect(run({ 'urls.json': { cases: [PASSING] } })).toMatchObject({
      code: 0,
      last: '1 passed, 0 failed, 0 skipped',
    });
    const found = run({ 'urls.json': { cases: [PASSING, FAILING, STRANGE] }, 'README.md': 'text' });
    expect(found).toMatchObject({ code: 1, last: '1 passed, 2 failed, 0 skipped' });
    expect(found.lines).toContain(
      '✗ x-2: one\n  url\n    expected "https://example.org/"\n    actual   "https://example.com/"',
    );
  });

  test('an unknown file and an unknown operation count as failed, not as skipped', () => {
    expect(run({ 'other.json': { cases: [PASSING] } })).toMatchObject({
      code: 1,
      last: '0 passed, 1 failed, 0 skipped',
    });
    const descriptor = { cases: [{ ...PASSING, input: { op: 'constructor' } }] };
    expect(run({ 'descriptor.json': descriptor })).toMatchObject({ code: 1, last: '0 passed, 1 failed, 0 skipped' });
  });

  test.each([
    ['an empty folder', {}],
    ['a file without cases', { 'urls.json': {} }],
    ['no cases in a file', { 'urls.json': { cases: [] } }],
    ['a case without expectations', { 'urls.json': { cases: [{ ...PASSING, expect: {} }] } }],
  ])('%s is a wrong folder', (_what, files) => {
    expect(run(files).code).toBe(2);
  });

  test('a missing folder is a wrong folder', () => {
    expect(withFolder((dir) => runFolder(join(dir, 'none'), () => undefined))).toBe(2);
  });
});
