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
    expect(ofRoot?.diagnostics).toEqual(listed);
    expect(listed.map(({ code }) => code)).toEqual(['root.depth', 'skill.duplicate', 'skill.copy']);
    expect(ofRoot?.valid).toBe(false);
    expect(rows.filter((row) => row !== ofRoot).map(({ path, valid }) => [path.slice(root.length), valid])).toEqual([
      ['/custom/a', true],
      ['/public/a', true],
      ['/x/a', true],
      ['/y/a', true],
    ]);
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
