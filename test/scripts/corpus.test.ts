import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCorpus } from '../../scripts/corpus/run-corpus.ts';
import { seededRandom } from '../../src/evals/seeded-random.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'corpus-'));
});
afterEach(() => rmSync(root, { recursive: true }));

function save(name: string, content: string | Uint8Array): void {
  mkdirSync(join(root, name), { recursive: true });
  writeFileSync(join(root, name, 'SKILL.md'), content);
}

const VALUES: [string, ...string[]] = [
  'plain text',
  'with: a colon',
  '"quoted \\u0041 \\" text"',
  "'it''s'",
  '|\n  a\n   b\n\n  c',
  '>-\n  folded\n  text',
  '1.0',
  'null',
  'yes',
  '[a, b]',
  '{a: b}',
  '&a x',
  '*a',
  '!!str 1',
  '!x y',
  '"open',
  '# comment',
  'é\u200bü \u{1f600}',
  '- x',
  'a # b',
  '@x',
  '%x',
  '`x`',
  '\ttab',
  '~',
  '  ',
];
const KEYS: [string, ...string[]] = [
  'name: words',
  'license: MIT',
  'metadata:\n  a: b',
  'tags: [a, b]',
  'description: twice',
  '? x\n: y',
  'x: &x 1\ny: *x',
  'a b',
  ': :',
  '<<: {a: b}',
];

describe('npm run corpus', () => {
  it('finds no rule broken in hundreds of hostile files and mutations of them', () => {
    const { between, pick } = seededRandom(9);
    for (let index = 0; index < 300; index += 1) {
      const end = pick(['\n', '\r\n']);
      const lines = [
        '---',
        between(0, 3) === 0 ? pick(KEYS) : 'name: words',
        `description: ${pick(VALUES)}`,
        between(0, 3) === 0 ? pick(KEYS) : 'license: MIT',
        pick(['---', '---', '---', '---', '--- ', '---x', '']),
        'Body',
        '---',
        'more',
      ];
      let text = pick(['', '', '', '\ufeff', ' ', '\n']) + lines.join('\n').replaceAll('\n', end);
      for (let times = between(0, 2); times > 0; times -= 1) {
        const at = between(0, text.length);
        text =
          text.slice(0, at) +
          pick(['', ':', '\n', '\0', '"', "'", '\t', '-', '#', ' ']) +
          text.slice(at + pick([0, 1, 5]));
      }
      save(`skill-${index}`, between(1, 20) === 1 ? Buffer.concat([Buffer.from(text), Buffer.from([0xff])]) : text);
    }
    const report = runCorpus(root);
    expect(report.exceptions).toEqual([]);
    expect(report.files).toBe(300);
    expect(report.loaded).toBeGreaterThan(50);
    expect(report.keptOut).toBeGreaterThan(50);
  });

  it('loads or names what lies deep, has odd names, is no file, or is very large', () => {
    save('a/'.repeat(40), '---\ndescription: Deep.\n---\n');
    save('\u00e4\u00f6 \u{1f600}', '---\ndescription: Named.\n---\n');
    save('---', '---\ndescription: No id.\n---\n');
    save('large', `---\ndescription: x\n---\n${'x'.repeat(2 * 1024 * 1024)}`);
    save('long', `---\ndescription: ${'x'.repeat(20_000)}\n---\n`);
    mkdirSync(join(root, 'folder/SKILL.md'), { recursive: true });
    mkdirSync(join(root, 'link'));
    symlinkSync('/etc/passwd', join(root, 'link/SKILL.md'));
    const { files, loaded, codes, exceptions } = runCorpus(root);
    expect(exceptions).toEqual([]);
    expect({ files, loaded }).toEqual({ files: 6, loaded: 2 });
    expect(codes).toMatchObject({ 'skill.too-large': 1, 'frontmatter.too-large': 1, 'skill.id-invalid': 1 });
  });

  it('finds nothing broken in the built-in skills', () => {
    const report = runCorpus(fileURLToPath(new URL('../../skills', import.meta.url)));
    expect(report).toMatchObject({ files: 7, loaded: 7, keptOut: 0, exceptions: [] });
  });
});
