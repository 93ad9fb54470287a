import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadSkillsSubsystem, validateSkills } from '../../../src/skills/index.ts';
import { withFolder, withLibrary } from '../../conformance/library.ts';
import { writeTree } from '../../conformance/write-tree.ts';
import { skillText } from '../text/skill-text.ts';

describe('loadSkillsSubsystem()', () => {
  test('searches 5,000 folders of a root and reports that it skipped the rest', () => {
    withFolder((dir) => {
      for (let index = 0; index < 5_000; index += 1) mkdirSync(join(dir, `a${String(index).padStart(4, '0')}`));
      const load = () => loadSkillsSubsystem({ builtinRoot: dir });
      writeTree(dir, { 'a4999/SKILL.md': skillText('a4999', 'Last.') });
      expect(load().skills.map(({ id }) => id)).toEqual(['public.a4999']);
      expect(load().diagnostics).toEqual([]);
      writeTree(dir, { 'b/SKILL.md': skillText('b', 'One too many.') });
      expect(load().skills.map(({ id }) => id)).toEqual(['public.a4999']);
      expect(load().diagnostics.map(({ code, path }) => [code, path])).toEqual([['root.folders', 'b']]);
    });
  });

  test('loads built-in root, further roots and the descriptor’s root together', () => {
    withFolder((dir) => {
      writeTree(join(dir, 'built'), { 'a/SKILL.md': skillText('a', 'Built in.') });
      writeTree(join(dir, 'user'), { 'b/SKILL.md': skillText('b', 'User.') });
      writeTree(join(dir, 'bundle/own'), { 'b/SKILL.md': skillText('b', 'Bundle.') });
      const subsystem = loadSkillsSubsystem({
        builtinRoot: join(dir, 'built'),
        roots: [{ kind: 'user', path: join(dir, 'user') }],
        descriptor: { custom_skills_root: 'own' },
        bundleRoot: join(dir, 'bundle'),
      });
      expect(subsystem.skills.map(({ id, body, root }) => [id, body, root])).toEqual([
        ['custom.b', 'Bundle.', 2],
        ['public.a', 'Built in.', 0],
      ]);
      expect(subsystem.descriptor()).toMatchObject({
        custom_skills_root: join(dir, 'bundle/own'),
        bundle_root: join(dir, 'bundle'),
      });
    });
  });

  test('returns immutable skills', () => {
    withLibrary({ files: { 'a/SKILL.md': skillText('a', 'A.', 'tags: [x]') } }, ({ subsystem }) => {
      expect(() => Object.assign(subsystem.skills[0] ?? {}, { body: 'other' })).toThrow(TypeError);
      expect(() => subsystem.skills[0]?.fields.tags?.push('y')).toThrow(TypeError);
      expect(() => Object.assign(subsystem.agentsConfig, { c: {} })).toThrow(TypeError);
    });
  });

  test('reports thousands of bad imports in one diagnostic', () => {
    const imports = Array.from({ length: 1_000 }, (_, index) => `n${index}`).join(',');
    withLibrary({ files: { 'a/SKILL.md': skillText('a', 'A.', `import: ${imports}`) } }, ({ subsystem }) => {
      const { skills, diagnostics } = subsystem.importSkillset(['a']);
      expect(skills.map(({ id }) => id)).toEqual(['public.a']);
      expect(diagnostics.map(({ code }) => code)).toEqual(['import.unknown']);
      expect(diagnostics[0]?.message).toMatch(/public\.n9 and 990 more\.$/);
    });
  });
});

describe('validateSkills()', () => {
  const tree = {
    'good/SKILL.md': skillText('good', 'Body.'),
    'odd/SKILL.md': skillText('other', 'Body.', 'tags: [x]'),
    'broken/SKILL.md': 'nothing',
  };

  test('validates one folder or all folders below a root', () => {
    withFolder((dir) => {
      writeTree(dir, tree);
      const brief = (path: string, strict: boolean) =>
        validateSkills(path, { strict }).map(({ id, valid, diagnostics }) => [
          id,
          valid,
          diagnostics.map(({ code }) => code),
        ]);
      expect(brief(join(dir, 'good'), true)).toEqual([['custom.good', true, []]]);
      expect(brief(dir, false)).toEqual([
        [null, false, ['frontmatter.missing']],
        ['custom.good', true, []],
        ['custom.odd', true, ['skill.name-mismatch']],
      ]);
      expect(brief(dir, true)).toEqual([
        [null, false, ['frontmatter.missing']],
        ['custom.good', true, []],
        ['custom.odd', false, ['strict.field-unknown', 'strict.name-folder']],
      ]);
    });
  });
});
