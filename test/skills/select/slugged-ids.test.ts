import { expect, test } from 'vitest';
import { withLibrary } from '../../conformance/library.ts';
import { skillText } from '../text/skill-text.ts';

const roots = [
  { kind: 'builtin' as const, files: { 'public/wiki_submit/SKILL.md': skillText('wiki_submit', 'W.') } },
  {
    kind: 'custom' as const,
    files: {
      'My Skill.v2/SKILL.md': skillText('x', 'M.', 'import: [wiki_submit, custom.nothing]'),
      'plain/SKILL.md': skillText('plain', 'P.'),
    },
  },
];

test.each<[string, string]>([
  ['wiki_submit', 'public.wiki-submit'],
  ['sk:public.Wiki_Submit', 'public.wiki-submit'],
  ['skills.custom.wiki_submit', 'public.wiki-submit'],
  ['custom.My Skill.v2', 'custom.my-skill-v2'],
  ['My Skill.v2', 'custom.my-skill-v2'],
  ['plain', 'custom.plain'],
])('the reference %j fails and names %s', (reference, id) => {
  withLibrary({ roots }, ({ subsystem }) => {
    expect(subsystem.resolve([reference]).rows).toEqual([
      { ref: reference, status: 'unknown', reason: `no loaded skill has this id; there is ${id}` },
    ]);
    expect(() => subsystem.skillTree(reference)).toThrow(`there is ${id}`);
  });
});

test('a reference to no skill gets no suggestion, and suggestions never name a denied skill', () => {
  const agents_config = { writer: { disabled: ['public.wiki-submit'] } };
  withLibrary({ roots, agents_config }, ({ subsystem }) => {
    const reason = (ref: string, consumer?: string) => subsystem.resolve([ref], { consumer }).rows[0]?.reason;
    expect(reason('nothing-like-it')).toBe('no loaded skill has this id');
    expect(reason('')).toBe('no loaded skill has this id');
    expect(reason('wiki_submit', 'writer')).toBe('no loaded skill has this id');
  });
});

test('the finding of an unknown import names its place and the similar id', () => {
  withLibrary({ roots }, ({ subsystem }) => {
    expect(subsystem.importSkillset(['custom.my-skill-v2']).diagnostics).toEqual([
      {
        ...{ code: 'import.unknown', severity: 'warning', path: 'My Skill.v2/SKILL.md', line: 4, column: 1 },
        message:
          'Imports of custom.my-skill-v2 are dropped (no loaded skill has this id): public.wiki_submit (there is public.wiki-submit), custom.nothing.',
      },
    ]);
  });
});
