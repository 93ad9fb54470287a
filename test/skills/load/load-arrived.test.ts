import matter from 'gray-matter';
import { afterEach, expect, test } from 'vitest';
import { exportRuntimeGlobals, loadSkillsSubsystem, setSkillsDescriptor } from '../../../src/skills/index.ts';
import { withFolder } from '../../conformance/library.ts';
import { writeTree } from '../../conformance/write-tree.ts';
import { skillText } from '../text/skill-text.ts';

const counted = matter as unknown as { language: (text: string, options: object) => object };
const { language } = counted;

afterEach(() => {
  counted.language = language;
});

test('a skill is split by gray-matter where it is loaded, and the same bytes by their fences where it is rebuilt', () => {
  let splits = 0;
  counted.language = (text, options) => {
    splits += 1;
    return language(text, options);
  };
  withFolder((dir) => {
    writeTree(dir, { 'units/SKILL.md': skillText('units', 'Give SI units.') });
    const loaded = loadSkillsSubsystem({ builtinRoot: dir });
    expect(splits).toBe(1);
    const { descriptor, trees } = exportRuntimeGlobals(loaded, { refs: ['public.units'], consumer: 'solver.codegen' });
    const rebuilt = setSkillsDescriptor(descriptor, { arrived: trees });
    expect(splits).toBe(1);
    const [{ fields, body } = {}] = loaded.skills;
    expect(rebuilt.skills).toMatchObject([{ fields, body }]);
  });
});
