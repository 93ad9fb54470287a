import fc from 'fast-check';
import matter from 'gray-matter';
import { afterEach, expect, test } from 'vitest';
import { readFrontMatter } from '../../../src/skills/parse/front-matter.ts';
import { readYaml } from '../../../src/skills/parse/yaml/read-yaml.ts';
import { cpuMs } from '../../fixtures/cpu-ms.ts';

const { engines } = matter as unknown as { engines: Record<string, { parse: () => object }> };
const { cache } = matter as unknown as { cache: Record<string, unknown> };
const yamlEngine = engines['yaml'];

afterEach(() => {
  if (yamlEngine !== undefined) engines['yaml'] = yamlEngine;
});

const read = (text: string) => readFrontMatter(text, { recover: false });

/** An independent form of the rule: the first line and the next line that are `---`, with optional blanks behind them. */
function expected(text: string): { block: string; body: string } | undefined {
  const match = /^---[ \t]*\n([^]*?)(?<=^|\n)---[ \t]*(?:\n([^]*))?$/.exec(text);
  return match === null ? undefined : { block: match[1] ?? '', body: match[2] ?? '' };
}

test('a file of any lines is split at the fences of the formats', () => {
  const line = fc.constantFrom(
    '---',
    '--- \t',
    '---x',
    '----',
    ' ---',
    '--- x',
    '',
    'a: 1',
    'b: ---',
    '# c',
    '\r',
    '\u2028',
  );
  let whole = 0;
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
      const text = ['---', ...lines].join('\n');
      const split = expected(text);
      const given = read(text);
      if (split === undefined) {
        expect(given.diagnostics[0]?.code).toBe('frontmatter.unclosed');
      } else if (given.ok) {
        whole += 1;
        expect({ block: given.block, body: given.body }).toEqual(split);
        expect(given.bodyLine).toBe(text.slice(0, text.length - split.body.length).split('\n').length);
      } else expect(given.diagnostics[0]?.code).toMatch(/^frontmatter\.(?:yaml|not-a-mapping)$/);
    }),
    { numRuns: 500 },
  );
  expect(whole).toBeGreaterThan(0);
});

test('no engine of gray-matter is called, and its cache stays empty', () => {
  const text = '---\na: 1\n---\nBody.\n';
  let asked = 0;
  engines['yaml'] = {
    parse: () => {
      asked += 1;
      return {};
    },
  };
  matter(text, {});
  // A plain call does call the engine, so the count detects a leak of the cage.
  expect(asked).toBe(1);
  expect(read(text).ok).toBe(true);
  expect(read('---\nb: [\n---\n').ok).toBe(false);
  expect(asked).toBe(1);
  expect(Object.keys(cache)).toEqual([]);
});

test('a block of blank lines costs only its YAML parsing, without the slow pattern of gray-matter', () => {
  const block = `a: 1\n${'\n'.repeat(15_000)}`;
  const text = `---\n${block}---\nBody.\n`;
  const least = { ours: Infinity, yaml: Infinity, pattern: Infinity };
  for (let round = 0; round < 5; round += 1) {
    least.ours = Math.min(
      least.ours,
      cpuMs(() => read(text)),
    );
    least.yaml = Math.min(
      least.yaml,
      cpuMs(() => readYaml(block)),
    );
    least.pattern = Math.min(
      least.pattern,
      cpuMs(() => matter(text, { engines: { yaml: () => ({}) } })),
    );
  }
  expect(least.ours).toBeLessThan(least.yaml + 0.6 * least.pattern);
});

test('text that is shortened for gray-matter stays complete in the result', () => {
  const block = `a: |\n  x\n${' \n'.repeat(300)}  ---\n\n${'\n'.repeat(300)}`;
  expect(read(`---\n${block}---\n\n\nBody.\n`)).toMatchObject({ ok: true, block, body: '\n\nBody.\n' });
});
