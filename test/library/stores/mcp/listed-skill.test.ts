import type { Skill as SkillEntry } from '@modelcontextprotocol/client/ext/skills';
import { describe, expect, it } from 'vitest';
import { digestOf } from '../../../../src/skills/text/digest.ts';
import { type ListedSkill, listedSkill } from '../../../../src/library/stores/mcp/listed-skill.ts';

const of = (uri: string, text = ''): object => ({ uri, digest: digestOf(text), size: text.length });
const entry = (resources: unknown, uri = 'skill://units/SKILL.md'): SkillEntry =>
  ({ uri, frontmatter: { name: 'units', description: 'Units.' }, resources }) as SkillEntry;
const SKILL = of('skill://units/SKILL.md');

// The SDK already drops most of these entries; these tests fail if our own checks go.
describe('listedSkill()', () => {
  it.each([
    ['without a list of files', entry(undefined), 'no list of its files'],
    ['of dynamic files', entry('dynamic'), 'no list of its files'],
    ['with a file of another skill', entry([SKILL, of('skill://other/SKILL.md')]), 'not below it'],
    [
      'with a file of a skill whose name has the same beginning',
      entry([SKILL, of('skill://units2/a')]),
      'not below it',
    ],
    ['with a file name that is not UTF-8', entry([SKILL, of('skill://units/%ff')]), 'not below it'],
    ['with a file outside the skill', entry([SKILL, of('skill://units/../a')]), 'lists'],
    ['without SKILL.md', entry([of('skill://units/a')]), 'lists no SKILL.md'],
    ['with an invalid uri', entry([SKILL], 'units/SKILL.md'), 'makes no path'],
  ])('leaves out an entry %s', (_, given, reason) => expect(listedSkill(given)).toContain(reason));

  it('sorts files by code points, and changes the revision with every change', () => {
    const listed = (given: SkillEntry): ListedSkill => listedSkill(given) as ListedSkill;
    const first = listed(entry([of('skill://units/b'), SKILL, of('skill://units/a')]));
    expect(first.files.map(({ path }) => path)).toEqual(['SKILL.md', 'a', 'b']);
    expect(listed(entry([SKILL, of('skill://units/a'), of('skill://units/b')])).revision).toBe(first.revision);
    const others = [
      entry([SKILL, of('skill://units/a'), of('skill://units/c')]),
      entry([SKILL, of('skill://units/a'), { ...of('skill://units/b'), digest: digestOf('x') }]),
      entry([SKILL, of('skill://units/a'), { ...of('skill://units/b'), size: 1 }]),
      entry(
        ['SKILL.md', 'a', 'b'].map((name) => of(`skill://unit/${name}`)),
        'skill://unit/SKILL.md',
      ),
    ].map((given) => listed(given).revision);
    expect(new Set([first.revision, ...others]).size).toBe(5);
  });
});
