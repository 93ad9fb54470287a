import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadSkillsSubsystem, validateSkills } from '../../../src/skills/index.ts';
import { withFolder } from '../../conformance/library.ts';
import { writeTree } from '../../conformance/write-tree.ts';
import { skillText } from '../text/skill-text.ts';

test('validateSkills() on a root reports duplicates, copies and too deep folders like loading does', () => {
  withFolder((dir) => {
    const [root, same] = [join(dir, 'skills'), skillText('a', 'Same.')];
    writeTree(root, { 'public/a/SKILL.md': same, 'x/a/SKILL.md': same, 'y/a/SKILL.md': skillText('a', 'Other.') });
    writeTree(root, { '1/2/3/4/5/6/7/SKILL.md': same, 'custom/a/SKILL.md': skillText('a', 'Of its own.') });
    const rows = validateSkills(root);
    const ofRoot = rows.find(({ path }) => path === root);
    const listed = loadSkillsSubsystem({ builtinRoot: root }).diagnostics;
    expect(listed.map(({ code }) => code)).toEqual(['root.depth', 'skill.duplicate', 'skill.copy']);
    const [tooDeep, duplicate, copy] = listed;
    expect(ofRoot).toMatchObject({ valid: true, diagnostics: [tooDeep, copy] });
    const ofFolders = rows.filter((row) => row !== ofRoot);
    expect(ofFolders.map(({ path, valid, diagnostics }) => [path.slice(root.length), valid, diagnostics])).toEqual([
      ['/custom/a', true, []],
      ['/public/a', true, []],
      ['/x/a', true, []],
      ['/y/a', false, [duplicate]],
    ]);
  });
});

test('validateSkills() names duplicates and copies by the ids of their rows', () => {
  withFolder((dir) => {
    const same = skillText('dup', 'Same.');
    writeTree(dir, { 'a/dup/SKILL.md': same, 'b/dup/SKILL.md': same, 'c/dup/SKILL.md': skillText('dup', 'Other.') });
    for (const strict of [false, true]) {
      const rows = validateSkills(dir, { strict });
      expect(rows.map(({ id, valid, diagnostics }) => [id, valid, ...diagnostics.map((row) => row.message)])).toEqual([
        ['custom.dup', true],
        ['custom.dup', true],
        ['custom.dup', false, 'custom.dup is already the skill in a/dup; this one is not loaded.'],
        [null, true, 'custom.dup is loaded from a/dup; the same files lie in b/dup.'],
      ]);
    }
  });
});

test('validateSkills() treats copies as valid', () => {
  withFolder((dir) => {
    const same = skillText('a', 'Same.');
    writeTree(dir, { 'x/a/SKILL.md': same, 'y/a/SKILL.md': same });
    const rows = validateSkills(dir);
    expect(rows.map(({ valid, diagnostics }) => [valid, ...diagnostics.map(({ code }) => code)])).toEqual([
      [true],
      [true],
      [true, 'skill.copy'],
    ]);
  });
});

test('a folder without skills and a missing folder are findings', () => {
  withFolder((dir) => {
    for (const path of [dir, join(dir, 'none')]) {
      for (const strict of [true, false]) {
        const [found] = validateSkills(path, { strict });
        expect([found?.valid, found?.diagnostics.map(({ code }) => code)]).toEqual([false, ['skill.missing']]);
      }
    }
  });
});

test('a SKILL.md over 1 MiB is too large in both modes', () => {
  withFolder((dir) => {
    writeTree(dir, { 'SKILL.md': { parts: ['---\ndescription: x\n---\n', { repeat: 'x', times: 1024 * 1024 }] } });
    for (const strict of [true, false]) {
      expect(validateSkills(dir, { strict })[0]?.diagnostics.map(({ code }) => code)).toEqual(['skill.too-large']);
    }
  });
});

test.each<[string, Parameters<typeof writeTree>[1], boolean, (string | number)[]]>([
  [
    'no description',
    { 'SKILL.md': '---\nname: a\n---\nText.\n' },
    false,
    ['skill.description-missing', 'a/SKILL.md', 2, 1],
  ],
  [
    'an empty description',
    { 'SKILL.md': '---\nname: a\ndescription:\n---\nText.\n' },
    false,
    ['skill.description-missing', 'a/SKILL.md', 3, 1],
  ],
  ['no name', { 'SKILL.md': '---\ndescription: x\n---\nText.\n' }, true, ['strict.name-missing', 'SKILL.md', 2, 1]],
  [
    'another encoding',
    { 'SKILL.md': { base64: Buffer.from('---\nname: a\ndescription: caf\xe9\n---\n', 'latin1').toString('base64') } },
    false,
    ['skill.encoding', 'a/SKILL.md', 3, 17],
  ],
  [
    'another encoding by the specification',
    { 'SKILL.md': { base64: Buffer.from('---\nname: a\ndescription: caf\xe9\n---\n', 'latin1').toString('base64') } },
    true,
    ['skill.encoding', 'SKILL.md', 3, 17],
  ],
  ...(['compact.md', 'tools.yaml', 'sources.yaml'] as const).map(
    (name): [string, Parameters<typeof writeTree>[1], boolean, (string | number)[]] => [
      `a NUL in ${name}`,
      { 'SKILL.md': skillText('a', 'Text.'), [name]: '# one\n#\0' },
      false,
      [`${name.split('.')[0]}.invalid`, `a/${name}`, 2, 2],
    ],
  ),
])('validateSkills() gives the place of %s', (_what, files, strict, expected) => {
  withFolder((dir) => {
    writeTree(join(dir, 'a'), files);
    const found = validateSkills(dir, { strict }).flatMap(({ diagnostics }) => diagnostics);
    expect(found.map(({ code, path, line, column }) => [code, path, line, column])).toEqual([expected]);
  });
});

test.each<[string, Record<string, string>, string[]]>([
  [
    'a tag in a description',
    { 'SKILL.md': 'description: Posts to #releases on merge.\n' },
    ['SKILL.md:3:23 "#releases on merge."'],
  ],
  ['a comment', { 'SKILL.md': 'description: Posts. # later more\n' }, ['SKILL.md:3:21 "# later more"']],
  ['a value that begins with #', { 'SKILL.md': 'description: Posts.\nlicense: #42\n' }, ['SKILL.md:4:10 "#42"']],
  [
    'the last line of a longer value, and an item',
    { 'SKILL.md': 'description: Posts\n  to #releases\nmetadata: { a: x, b: y #z\n  }\n' },
    ['SKILL.md:4:6 "#releases"', 'SKILL.md:5:24 "#z"'],
  ],
  [
    'the files beside it',
    {
      'SKILL.md': 'description: Posts.\n',
      'tools.yaml': '- id: post\n  why: posts to #dev\n- other # not yet\n',
      'sources.yaml': '- url: https://a.example/x\n  title: Issue #4\n',
    },
    ['tools.yaml:2:17 "#dev"', 'tools.yaml:3:9 "# not yet"', 'sources.yaml:2:16 "#4"'],
  ],
  [
    'nothing in quotes, in blocks, within words, on a line of its own and beside a map',
    { 'SKILL.md': '# x\ndescription: "C# #x" # y\nlicense: a#b\nmetadata: # all\n  # one\n  a: |\n    b #c\n' },
    [],
  ],
])('validateSkills() reports the text that YAML drops behind a plain value in both modes: %s', (_, files, expected) => {
  withFolder((dir) => {
    const { 'SKILL.md': block = '', ...others } = files;
    writeTree(join(dir, 'a'), { 'SKILL.md': `---\nname: a\n${block}---\nBody.\n`, ...others });
    for (const strict of [false, true]) {
      const [row] = validateSkills(dir, { strict });
      const found = row?.diagnostics.map(
        ({ path, line, column, message }) =>
          `${path?.replace('a/', '')}:${line}:${column} ${message.split(': ')[1]?.slice(0, -1)}`,
      );
      expect([row?.valid, found]).toEqual([true, expected]);
    }
  });
});

test('loading reports a comment behind # that looks like a text, also in a repaired block', () => {
  withFolder((dir) => {
    writeTree(join(dir, 'a'), {
      'SKILL.md': '---\nname: a # the name\ndescription: Use when: asked on #dev.\nlicense: "x: y" #z\n---\nBody.\n',
    });
    const { diagnostics } = loadSkillsSubsystem({ builtinRoot: dir });
    expect(diagnostics.map(({ code, line, column }) => [code, line, column])).toEqual([
      ['frontmatter.recovered', 3, 14],
      ['frontmatter.comment', 3, 14],
    ]);
  });
});

test('validateSkills() reports files that are left out, and nested skills, in both modes', () => {
  withFolder((dir) => {
    const files = {
      'SKILL.md': skillText('a', 'A.'),
      'b/SKILL.md': skillText('b', 'B.'),
      c: { symlink: 'SKILL.md' },
      'd\n': 'x',
    };
    writeTree(join(dir, 'a'), files);
    for (const strict of [false, true]) {
      const [row] = validateSkills(dir, { strict });
      const codes = row?.diagnostics.map(({ code, path }) => `${code} ${path}`).toSorted();
      expect([row?.valid, codes]).toEqual([true, ['skill.link a/c', 'skill.nested a/b/SKILL.md', 'skill.path a/d\n']]);
    }
  });
});
