import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Diagnostic } from '../../../src/contracts/errors/diagnostic.ts';
import { loadSkillsSubsystem } from '../../../src/skills/index.ts';
import { withFolder, withLibrary } from '../../conformance/library.ts';
import { writeTree, type Tree } from '../../conformance/write-tree.ts';
import { skillText } from '../text/skill-text.ts';

/** Codes with their places, from loading one root. */
function found(files: Tree): string[] {
  return withLibrary({ files }, ({ subsystem }) => subsystem.diagnostics.map(placed));
}

function placed({ code, path, line, column }: Diagnostic): string {
  return [code, path, ...(line === undefined ? [] : [line, column])].join(' ');
}

describe('every irregularity near a skill is reported', () => {
  test('each visited SKILL.md below a skill has its own finding, in any spelling', () => {
    const files = {
      'a/SKILL.md': skillText('a', 'A.'),
      'a/x/SKILL.md': skillText('x', 'X.'),
      'a/x/y/Skill.MD': skillText('y', 'Y.'),
      'a/node_modules/z/SKILL.md': skillText('z', 'Z.'),
      'a/.git/SKILL.md': 'x',
      'a/x/my-SKILL.md': 'x',
    };
    expect(found(files)).toEqual(['skill.nested a/x/SKILL.md', 'skill.nested a/x/y/Skill.MD']);
  });

  test('a nested SKILL.md is found even if its skill cannot be listed completely', () => {
    const broken = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`a/n${n}/SKILL.md`, '']));
    const codes = found({ 'a/SKILL.md': 'no frontmatter', ...broken });
    expect(codes.filter((line) => line.startsWith('skill.nested'))).toHaveLength(40);
    expect(codes).toContain('frontmatter.missing a/SKILL.md 1 1');
  });

  test('SKILL.md precedes skill.md, which precedes other spellings in code-point order', () => {
    const all = { 'a/SKILL.md': skillText('a', '1'), 'a/skill.md': 'x', 'a/SKILL.MD': 'x', 'a/Skill.md': 'x' };
    const bodies = (files: Tree): string[] =>
      withLibrary({ files }, ({ subsystem }) => subsystem.skills.map(({ body }) => body));
    expect(found(all)).toEqual([]);
    expect(bodies(all)).toEqual(['1']);
    const lower = { 'a/skill.md': skillText('a', '2'), 'a/SKILL.MD': 'x', 'a/Skill.md': 'x' };
    expect(found(lower)).toEqual(['skill.file-case a/skill.md']);
    expect(bodies(lower)).toEqual(['2']);
    const others = { 'a/SKILL.MD': skillText('a', '3'), 'a/Skill.md': skillText('a', '4') };
    expect(found(others)).toEqual(['skill.file-name a/SKILL.MD']);
    expect(bodies(others)).toEqual(['3']);
    // Letters that only look like ASCII letters, or fold to one in another language.
    expect(found({ 'a/\u017FKILL.md': 'x', 'b/S\u212AILL.md': 'x' })).toEqual([]);
  });

  test('a fifo, a socket or a folder of that name is reported and never opened', () => {
    withFolder((dir) => {
      writeTree(dir, { 'c/SKILL.md/in/SKILL.md': skillText('in', 'In.'), 'd/skill.md': skillText('d', 'D.') });
      writeTree(dir, { 'a/keep': '', 'b/keep': '', 'd/SKILL.md/x': '' });
      execFileSync('mkfifo', [join(dir, 'a/SKILL.md')]);
      // A server that SIGKILL ends leaves its socket behind.
      const server =
        'require("net").createServer().listen(process.argv[1], () => process.kill(process.pid, "SIGKILL"))';
      spawnSync(process.execPath, ['-e', server, join(dir, 'b/Skill.md')]);
      const { skills, diagnostics } = loadSkillsSubsystem({ builtinRoot: dir });
      expect(diagnostics.map(placed)).toEqual([
        'skill.unreadable a/SKILL.md',
        'skill.unreadable b/Skill.md',
        'skill.unreadable c/SKILL.md',
        'skill.unreadable d/SKILL.md',
        'skill.file-case d/skill.md',
      ]);
      // The search continues in a folder of that name.
      expect(skills.map(({ id, dir: folder }) => [id, folder])).toEqual([
        ['public.d', 'd'],
        ['public.in', 'c/SKILL.md/in'],
      ]);
    });
  });

  test('skills below the depth limit are counted, and up to ten are named', () => {
    const deep = (count: number): Tree =>
      Object.fromEntries(
        Array.from({ length: count }, (_, n) => [
          `1/2/3/4/5/6/${String(n).padStart(2, '0')}/SKILL.md`,
          skillText('x', 'X.'),
        ]),
      );
    const message = (files: Tree): string =>
      withLibrary({ files }, ({ subsystem }) => subsystem.diagnostics.map((row) => row.message).join());
    expect(message(deep(1))).toBe(
      'Folders below depth 6 are not searched; 1 SKILL.md lies there: 1/2/3/4/5/6/00/SKILL.md.',
    );
    const many = message({ ...deep(11), '1/2/3/4/5/6/00/more/still/skill.md': 'x' });
    expect(many).toContain('; 12 SKILL.md lie there: 1/2/3/4/5/6/00/SKILL.md, 1/2/3/4/5/6/00/more/still/skill.md, ');
    expect(many).toMatch(/08\/SKILL\.md and 2 more\.$/);
    expect(message({ '1/2/3/4/5/6/7/notes.md': 'x' })).toContain('; no SKILL.md lies there.');
  });

  test('copies of one skill share one finding, and a duplicate among them is a separate error', () => {
    const files: Tree = { 'z/a/SKILL.md': skillText('a', 'Other.') };
    for (let n = 10; n < 23; n += 1) files[`c${n}/a/SKILL.md`] = skillText('a', 'Same.');
    withLibrary({ files }, ({ subsystem }) => {
      expect(subsystem.skills.map(({ id, dir }) => [id, dir])).toEqual([['public.a', 'c10/a']]);
      expect(subsystem.diagnostics.map(({ severity, code, path }) => [severity, code, path])).toEqual([
        ['error', 'skill.duplicate', 'z/a/SKILL.md'],
        ['info', 'skill.copy', 'c11/a/SKILL.md'],
      ]);
      expect(subsystem.diagnostics[1]?.message).toBe(
        `public.a is loaded from c10/a; the same files lie in ${[11, 12, 13, 14, 15, 16, 17, 18, 19, 20].map((n) => `c${n}/a`).join(', ')} and 2 more.`,
      );
    });
  });

  test('folders that differ only in an executable bit are not copies', () => {
    const text = skillText('a', 'Same.');
    expect(found({ 'x/a/SKILL.md': text, 'y/a/SKILL.md': { text, executable: true } })).toEqual([
      'skill.duplicate y/a/SKILL.md',
    ]);
  });
});

test('files and folders with paths that no sandbox can take are left out of their skill, with one finding for each folder', () => {
  const files: Tree = {
    'a/SKILL.md': skillText('a', 'One.'),
    'a/kept.txt': '1',
    'a/two\nlines.txt': '1',
    'a/back\\slash.txt': '1',
    'a/tab\tfolder/b.txt': '1',
    'a/deep/c\x7f.txt': '1',
    [`a/${'d/'.repeat(62)}kept.txt`]: '1',
    [`a/${'d/'.repeat(63)}left-out.txt`]: '1',
  };
  withLibrary({ files }, ({ subsystem }) => {
    expect(subsystem.skills[0]?.files.map(({ path }) => path)).toEqual([
      'SKILL.md',
      `${'d/'.repeat(62)}kept.txt`,
      'kept.txt',
    ]);
    const messages = subsystem.diagnostics.map(({ code, path, message }) => [code, path, message]);
    const fault = 'control character, backslash or invalid UTF-8 in the name';
    const left = 'Files that no sandbox can take are left out:';
    expect(messages.toSorted((one, other) => (String(one[1]) < String(other[1]) ? -1 : 1))).toEqual([
      [
        'skill.path',
        'a/back\\slash.txt',
        `${left} "back\\\\slash.txt" (${fault}), "two\\nlines.txt" (${fault}), "tab\\tfolder" (${fault}).`,
      ],
      ['skill.path', `a/${'d/'.repeat(63)}left-out.txt`, `${left} "${'d/'.repeat(50)}" (deeper than 64 folders).`],
      ['skill.path', 'a/deep/c\x7f.txt', `${left} "deep/c\\u007f.txt" (${fault}).`],
    ]);
  });
});

describe('a skill that is left out', () => {
  test('keeps the findings of its fields, name, id, namespace, links and parts, each once and in its place', () => {
    const files: Tree = {
      'My_Skill/SKILL.md':
        '---\nname: other\nnamespace: marketing\nversion: [1]\ntriggers:\n  patterns:\n    - "(?=a)"\n---\nx',
      'My_Skill/tools.yaml': 'tools:\n  - why: none\n',
      'My_Skill/sources.yaml': 'sources:\n  - sid: 1\n  - sid: x\n    url: ftp://a/\n',
      'My_Skill/link.md': { symlink: 'SKILL.md' },
      'My_Skill/compact.md': { base64: '/w==' },
    };
    expect(found(files)).toEqual([
      'skill.link My_Skill/link.md',
      'skill.field-type My_Skill/SKILL.md 4 1',
      'skill.description-missing My_Skill/SKILL.md 2 1',
      'skill.name-mismatch My_Skill/SKILL.md 2 1',
      'trigger.pattern My_Skill/SKILL.md 7 7',
      'compact.invalid My_Skill/compact.md',
      'tools.entry My_Skill/tools.yaml 2 5',
      'sources.entry My_Skill/sources.yaml 2 5',
      'sources.sid My_Skill/sources.yaml 3 5',
      'url.not-http My_Skill/sources.yaml 3 5',
      'skill.id-slugged My_Skill/SKILL.md',
      'skill.namespace-unknown My_Skill/SKILL.md 3 1',
    ]);
  });

  test('because of its folder name keeps them too; with unreadable frontmatter it has only the findings of the file', () => {
    const text = '---\nname: b\ndescription: D.\nnamespace: internal\n---\nx';
    withLibrary({ roots: [{ kind: 'user', files: { '___/SKILL.md': text } }] }, ({ subsystem }) => {
      expect(subsystem.skills).toEqual([]);
      expect(subsystem.diagnostics.map(placed)).toEqual([
        'skill.name-mismatch ___/SKILL.md 2 1',
        'skill.id-invalid ___/SKILL.md',
        'skill.namespace-reserved ___/SKILL.md 4 1',
      ]);
    });
    const files = { 'B_/skill.md': '---\nname: x\n', 'B_/tools.yaml': 'tools: [', 'B_/n/SKILL.md': 'x' };
    expect(found(files)).toEqual([
      'skill.nested B_/n/SKILL.md',
      'frontmatter.unclosed B_/skill.md 1 1',
      'skill.file-case B_/skill.md',
    ]);
  });
});

describe('roots', () => {
  test.each([undefined, false])('a project whose trusted is %s is not searched', (trusted) => {
    withFolder((dir) => {
      writeTree(dir, { 'a/SKILL.md': skillText('a', 'A.') });
      const load = (root: { trusted?: boolean }) =>
        loadSkillsSubsystem({ roots: [{ kind: 'project', path: dir, ...root }] });
      // The skill is there, so only the trust decides below.
      expect(load({ trusted: true }).skills.map(({ id }) => id)).toEqual(['custom.a']);
      const subsystem = load(trusted === undefined ? {} : { trusted });
      expect(subsystem.skills).toEqual([]);
      expect(subsystem.diagnostics.map(({ code }) => code)).toEqual(['root.untrusted']);
    });
  });

  test('an override frees only its own id', () => {
    const claim = (name: string): string => skillText(name, `${name}.`, 'namespace: public');
    const files = { 'a/SKILL.md': claim('a'), 'b/SKILL.md': claim('b') };
    withLibrary({ roots: [{ kind: 'custom', files }], overrides: ['public.a'] }, ({ subsystem }) => {
      expect(subsystem.skills.map(({ id }) => id)).toEqual(['custom.b', 'public.a']);
      expect(subsystem.diagnostics.map(({ code, path }) => [code, path])).toEqual([
        ['skill.namespace-reserved', 'b/SKILL.md'],
      ]);
    });
  });

  test('an override is unused if its namespace is neither public nor internal, or no skill claims it', () => {
    const files = { 'a/SKILL.md': skillText('a', 'A.'), 'b/SKILL.md': skillText('b', 'B.', 'namespace: public') };
    const overrides = ['custom.a', 'public.b', 'public.a'];
    withLibrary({ roots: [{ kind: 'custom', files }], overrides }, ({ subsystem }) => {
      expect(subsystem.skills.map(({ id }) => id)).toEqual(['custom.a', 'public.b']);
      expect(subsystem.diagnostics.map(({ code, message }) => [code, message.match(/"(.*)"/)?.[1]])).toEqual([
        ['override.unused', 'custom.a'],
        ['override.unused', 'public.a'],
      ]);
    });
  });
});
