import { describe, expect, it } from 'vitest';
import { SkillcellError } from '../../../src/contracts/errors/skillcell-error.ts';
import { chooseSkills } from '../../../src/library/sources/choose-skills.ts';
import type { FoundSkill, SourceContents } from '../../../src/library/sources/find-in-source.ts';

const found = (folder: string, digest = folder): FoundSkill => {
  const skillId = folder.slice(folder.lastIndexOf('/') + 1);
  return { skill: { id: `custom.${skillId}`, skillId, digest }, origin: { folder } } as FoundSkill;
};

const contents = (skills: FoundSkill[], ...refused: string[]): SourceContents => ({
  skills,
  refused: refused.map((folder) => ({ folder, error: new SkillcellError('store.changed', `${folder} has changed`) })),
  diagnostics: [],
});

const [UNITS, CHARTS] = [found('house/units'), found('house/charts')];

describe('chooseSkills()', () => {
  it.each<[string, string[], SourceContents, string[]]>([
    ['all skills without a name', [], contents([UNITS, CHARTS]), ['house/units', 'house/charts']],
    ['a skill by its id', ['custom.units'], contents([UNITS, CHARTS]), ['house/units']],
    ['a skill by the end of its id', ['charts'], contents([UNITS, CHARTS]), ['house/charts']],
    ['a skill by its folder', ['house/units'], contents([UNITS, CHARTS]), ['house/units']],
    ['one of two copies', [], contents([UNITS, found('copy/units', UNITS.skill.digest)]), ['house/units']],
    ['one of two skills with an id', ['b/units'], contents([UNITS, found('b/units')]), ['b/units']],
    ['the skills beside a refused one', [], contents([UNITS], 'house/worse'), ['house/units']],
  ])('chooses %s', (_name, names, source, folders) => {
    expect(chooseSkills(source, names).map(({ origin }) => origin.folder)).toEqual(folders);
  });

  it.each<[string, string[], SourceContents, string]>([
    ['two skills with one id', [], contents([UNITS, found('b/units')]), 'got "house/units" and "b/units"'],
    ['an unknown name', ['maps'], contents([UNITS, CHARTS]), 'the source has units, charts, got "maps"'],
    ['a name in a source without skills', ['maps'], contents([]), 'the source has none, got "maps"'],
    ['a refused skill by its folder', ['house/worse'], contents([UNITS], 'house/worse'), 'house/worse has changed'],
    ['a refused skill by its name', ['worse'], contents([UNITS], 'house/worse'), 'house/worse has changed'],
    ['a source with refused skills only', [], contents([], 'house/worse'), 'house/worse has changed'],
  ])('refuses %s', (_name, names, source, message) => {
    expect(() => chooseSkills(source, names)).toThrow(message);
  });
});
