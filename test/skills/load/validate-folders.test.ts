import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadSkillsSubsystem, validateSkills } from '../../../src/skills/index.ts';
import { withFolder } from '../../conformance/library.ts';
import { writeTree } from '../../conformance/write-tree.ts';
import { skillText } from '../text/skill-text.ts';

test('validateSkills() on a root reports duplicates, copies and what lies too deep as a list of it does', () => {
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

test('validateSkills() names duplicates and copies by the id that their rows have', () => {
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

test('validateSkills() takes copies for no fault', () => {
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

test('a folder without skills, and one that is not there, are findings', () => {
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
])('validateSkills() says where there is %s', (_what, files, strict, expected) => {
  withFolder((dir) => {
    writeTree(join(dir, 'a'), files);
    const found = validateSkills(dir, { strict }).flatMap(({ diagnostics }) => diagnostics);
    expect(found.map(({ code, path, line, column }) => [code, path, line, column])).toEqual([expected]);
  });
});
