import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SourceRow } from '../../../src/contracts/skills/skill.ts';
import { createSourcesPool, rewriteCitations } from '../../../src/skills/render/citations.ts';
import { normalizeUrl } from '../../../src/skills/parse/normalize-url.ts';
import { cpuMs } from '../../fixtures/cpu-ms.ts';

const rewrite = (
  text: string,
  sources: SourceRow[],
  pool: SourceRow[] = [],
): { text: string | undefined; codes: string[] } => {
  const result = rewriteCitations({ pool, skills: [{ id: 'public.a', sources, text }] });
  return { text: result.texts['public.a'], codes: result.diagnostics.map(({ code }) => code) };
};
const row = (sid: number): SourceRow => ({ sid, url: `https://example.com/${sid}` });

describe('citation tokens', () => {
  test.each<[string, string]>([
    ['see \\`[[S:1]]` here', 'see \\`[[S:2]]` here'],
    ['`` [[S:1]] ``` [[S:1]] ``', '`` [[S:1]] ``` [[S:1]] ``'],
    ['`a\n[[S:1]]\nb`', '`a\n[[S:1]]\nb`'],
    ['`a\n \n[[S:1]]`', '`a\n \n[[S:2]]`'],
    ['``` x ` y\n[[S:1]]', '``` x ` y\n[[S:2]]'],
    ['  ~~~~\n[[S:1]]\n~~~\n~~~~~ \n[[S:1]]', '  ~~~~\n[[S:1]]\n~~~\n~~~~~ \n[[S:2]]'],
    ['`a\n```\n[[S:1]]\n```\n[[S:1]]`', '`a\n```\n[[S:1]]\n```\n[[S:2]]`'],
    ['[[S:01]] [[S:1,1,1-1]]', '[[S:2]] [[S:2]]'],
    ['[[[S:1]]]', '[[[S:2]]]'],
    ['[[S:\n1\n]]', '[[S:2]]'],
    ['a \t[[S:9]]b', 'a b'],
    ['[[S:9]] [[S:9]] [[S:9]]', ''],
  ])('%j becomes %j', (text, expected) => {
    expect(rewrite(text, [row(1)], [{ sid: 1, url: 'https://other.example/' }]).text).toBe(expected);
  });

  test('stay cheap with huge numbers and many ranges', () => {
    const sources = Array.from({ length: 1000 }, (_, index) => row(index + 1));
    const takenMs = cpuMs(() => {
      expect(rewrite(`x [[S:${'9'.repeat(100_000)}]]`, sources)).toEqual({ text: 'x', codes: ['citation.unmapped'] });
      expect(rewrite('x [[S:99999999999999999990-99999999999999999999]]', sources)).toEqual({
        text: 'x',
        codes: ['citation.unmapped'],
      });
      expect(rewrite(`[[S:${'1-1000,'.repeat(1000)}]]`, sources).codes).toEqual([]);
      expect(rewrite('[['.repeat(200_000), sources).codes).toEqual([]);
      expect(rewrite(`${'`'.repeat(3)} ${'` `` '.repeat(50_000)}[[S:1]]`, sources).codes).toEqual([]);
    });
    expect(takenMs).toBeLessThan(3000);
  });
});

describe('the pool', () => {
  test('does not change the rows that it was given', () => {
    const initial = [{ sid: 2, url: 'https://example.com/a' }];
    const pool = createSourcesPool(initial);
    expect([...pool.merge([{ sid: 1, url: 'https://example.com/a#x', title: 'T' }])]).toEqual([[1, 2]]);
    expect(pool.rows()).toEqual([{ sid: 2, url: 'https://example.com/a', title: 'T' }]);
    expect(initial).toEqual([{ sid: 2, url: 'https://example.com/a' }]);
  });

  test('finds a row by a value that was filled in', () => {
    const pool = createSourcesPool([{ sid: 3, physical_path: 'a.pdf' }]);
    pool.merge([{ url: 'https://example.com/a', physical_path: 'a.pdf' }]);
    expect([...pool.merge([{ sid: 8, url: 'https://example.com/a/' }])]).toEqual([[8, 3]]);
    expect(pool.rows()).toHaveLength(1);
  });
});

const url = fc.constantFrom(
  'https://a.example/1',
  'https://A.example/1/',
  'https://b.example/?x=1',
  'http://c.example/',
  'ftp://d.example/',
);
const rows = fc.uniqueArray(fc.record({ sid: fc.integer({ min: 1, max: 12 }), url, title: fc.constantFrom('', 'T') }), {
  selector: ({ sid }) => sid,
  maxLength: 6,
});
// Words surround every token, so that its removal cannot create a fence or join runs of backticks.
const text = fc
  .array(
    fc.constantFrom(
      'word ',
      'a[[S:1]]b',
      'a [[S:2-5]]b',
      'a [[s: 3 , 12 ]] b',
      '`',
      '``',
      '\n',
      '\n\n',
      '```\n',
      '~~~\n',
      '\\',
      ' ',
    ),
    { maxLength: 25 },
  )
  .map((parts) => parts.join(''));

test('rewriting is idempotent on a merged pool', () => {
  fc.assert(
    fc.property(rows, rows, text, (initial, sources, body) => {
      const merged = rewriteCitations({ pool: [], skills: [{ id: 'public.b', sources: initial, text: '' }] }).pool;
      const first = rewriteCitations({ pool: merged, skills: [{ id: 'public.a', sources, text: body }] });
      const again = { id: 'public.a', sources: first.pool, text: first.texts['public.a'] ?? '' };
      const second = rewriteCitations({ pool: first.pool, skills: [again] });
      expect(second.pool).toEqual(first.pool);
      expect(second.texts).toEqual(first.texts);
      expect(second.diagnostics).toEqual([]);
      const sids = first.pool.map(({ sid }) => Number(sid));
      expect(sids).toEqual([...new Set(sids)].toSorted((a, b) => a - b));
    }),
    { numRuns: 300 },
  );
});

test('normalizeUrl() is idempotent', () => {
  fc.assert(
    fc.property(fc.oneof(fc.webUrl({ withQueryParameters: true, withFragments: true }), fc.string()), (written) => {
      const once = normalizeUrl(written).url;
      // A path may end in several slashes; each call removes one.
      if (!once.split('?')[0]?.endsWith('/')) expect(normalizeUrl(once).url).toBe(once);
    }),
  );
});
