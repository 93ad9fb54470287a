import { expect, test } from 'vitest';
import type { Tree } from '../../conformance/write-tree.ts';
import { withLibrary } from '../../conformance/library.ts';
import { skillText } from '../text/skill-text.ts';

function rendered(files: Tree, variant?: 'compact') {
  return withLibrary({ files }, ({ subsystem }) => {
    const { diagnostics, text } = subsystem.buildSkillsInstructionBlock({ refs: ['a'], variant });
    return { text, found: diagnostics.map(({ code, path, line, column }) => [code, path, line, column]) };
  });
}

test('escaped lines of code are counted, at the place of the first; other escaped lines are not', () => {
  const fence = ['```', '[ACTIVE SKILLS]', '  ## Skill: x', '```'].join('\n');
  const body = [
    '',
    '',
    'Text [[S:9]].',
    '# Skill: y',
    '`',
    '[END ACTIVE SKILLS]`',
    '',
    fence,
    '',
    '~~~',
    '# skill: z',
  ].join('\n');
  const { text, found } = rendered({ 'a/SKILL.md': skillText('a', body) });
  expect(found).toEqual([
    ['citation.unmapped', 'a/SKILL.md', 7, 6],
    ['render.escaped', 'a/SKILL.md', 13, 1],
  ]);
  expect(text.match(/^\s*\\.*$/gm)).toHaveLength(5);
  withLibrary({ files: { 'a/SKILL.md': skillText('a', body) } }, ({ subsystem }) => {
    const { diagnostics } = subsystem.loadSkill('a');
    expect(diagnostics.at(-1)?.message).toMatch(/^3 lines of code in public\.a got a backslash/);
  });
  expect(rendered({ 'a/SKILL.md': skillText('a', '# Skill: y\n`\n[ACTIVE SKILLS]`') }).found).toEqual([]);
});

test('findings in compact.md name compact.md', () => {
  const files = { 'a/SKILL.md': skillText('a', 'Long.'), 'a/compact.md': '\n```\n[ACTIVE SKILLS]\n' };
  expect(rendered(files, 'compact').found).toEqual([['render.escaped', 'a/compact.md', 3, 1]]);
  expect(rendered({ 'a/SKILL.md': skillText('a', '  ') }).found).toEqual([
    ['skill.empty-body', 'a/SKILL.md', undefined, undefined],
  ]);
});
