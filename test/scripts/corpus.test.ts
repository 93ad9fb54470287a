import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
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
  it('finds no broken rule in hundreds of hostile files and their mutations', () => {
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
    expect(report.loaded).toBeGreaterThan(30);
    expect(report.keptOut).toBeGreaterThan(50);
  });

  it('loads or names files that are deep, have odd names, are no regular files, or are very large', () => {
    save('a/'.repeat(40), '---\ndescription: Deep.\n---\n');
    save('\u00e4\u00f6 \u{1f600}', '---\ndescription: Named.\n---\n');
    save('---', '---\ndescription: No id.\n---\n');
    save('large', `---\ndescription: x\n---\n${'x'.repeat(2 * 1024 * 1024)}`);
    save('long', `---\ndescription: ${'x'.repeat(20_000)}\n---\n`);
    mkdirSync(join(root, 'folder/SKILL.md'), { recursive: true });
    mkdirSync(join(root, 'link'));
    symlinkSync('/etc/passwd', join(root, 'link/SKILL.md'));
    const { files, loaded, codes, causes, exceptions, unread } = runCorpus(root);
    expect({ exceptions, unread }).toEqual({ exceptions: [], unread: [] });
    expect({ files, loaded }).toEqual({ files: 6, loaded: 2 });
    expect(causes).toEqual({ 'too large': 2, 'no id in its name': 1, 'no file': 1 });
    expect(codes).toMatchObject({ 'skill.too-large': 1, 'frontmatter.too-large': 1, 'skill.id-invalid': 1 });
  });

  it('distinguishes missing parts from unreadable files', () => {
    save('no-description', '---\nname: x\n---\n');
    save('no-frontmatter', 'Words');
    save('unclosed', '---\ndescription: x\n');
    save('broken', '---\ndescription: "x\n---\n');
    save('latin', Buffer.from('---\ndescription: \xe9\n---\n', 'latin1'));
    save('spelled', '---\ndescription: x\n---\n');
    writeFileSync(join(root, 'spelled/Skill.md'), '---\ndescription: y\n---\n');
    const { loaded, causes, exceptions } = runCorpus(root);
    expect({ loaded, exceptions }).toEqual({ loaded: 1, exceptions: [] });
    expect(causes).toEqual({
      'no description': 1,
      'no frontmatter': 2,
      'broken YAML': 1,
      'not UTF-8': 1,
      'another spelling beside it': 1,
    });
  });

  it('continues past links, fifos, sockets, names of any bytes, and YAML that is deep or grows', async () => {
    const skill = '---\ndescription: A.\n---\n';
    save('good', skill);
    for (const name of ['linked-folder', 'loop', 'fifo', 'socket']) mkdirSync(join(root, name));
    symlinkSync(join(root, 'good'), join(root, 'linked-folder/good'));
    symlinkSync(root, join(root, 'loop/again'));
    symlinkSync('SKILL.md', join(root, 'loop/SKILL.md'));
    execFileSync('mkfifo', [join(root, 'fifo/SKILL.md')]);
    const server = createServer().listen(join(root, 'socket/SKILL.md'));
    await once(server, 'listening');
    save('n'.repeat(255), skill);
    const odd = Buffer.concat([Buffer.from(`${root}/odd-`), Buffer.from([0xff, 0xfe])]);
    mkdirSync(odd);
    writeFileSync(Buffer.concat([odd, Buffer.from('/SKILL.md')]), skill);
    const deep = {
      brackets: '['.repeat(16_000),
      braces: '{a: '.repeat(4_000),
      dashes: '- '.repeat(8_000),
      keys: '? '.repeat(8_000),
    };
    for (const [name, text] of Object.entries(deep)) save(name, `---\ndescription: x\nother: ${text}\n---\n`);
    save('indent', `---\n${Array.from({ length: 170 }, (_, at) => `${' '.repeat(at)}a:`).join('\n')}\n---\n`);
    const bomb = Array.from({ length: 40 }, (_, at) => `a${at + 1}: &a${at + 1} [*a${at}, *a${at}]`).join('\n');
    save('aliases', `---\na0: &a0 x\n${bomb}\ndescription: *a40\n---\n`);
    save('merges', '---\na: &a {description: x}\n<<: *a\n---\n');
    save('fences', '---\n'.repeat(200_000));
    save('zeros', Buffer.alloc(900_000));
    const { files, loaded, keptOut, causes, exceptions, unread } = runCorpus(root);
    server.close();
    expect(exceptions).toEqual([]);
    expect(unread).toEqual([{ path: 'odd-\ufffd\ufffd', reason: 'ENOENT' }]);
    expect({ files, loaded }).toEqual({ files: 14, loaded: 2 });
    expect(Object.values(causes).reduce((sum, count) => sum + count)).toBe(keptOut);
    expect(causes).toMatchObject({ 'no file': 3, 'not UTF-8': 1 });
  });

  it('finds no broken rule in the built-in skills', () => {
    const report = runCorpus(fileURLToPath(new URL('../../skills', import.meta.url)));
    expect(report).toMatchObject({ files: 7, loaded: 7, keptOut: 0, exceptions: [] });
  });
});
