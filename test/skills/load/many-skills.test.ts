import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { loadSkillsSubsystem } from '../../../src/skills/index.ts';
import { yaml } from '../../../src/skills/parse/yaml/lazy-yaml.ts';
import { withFolder } from '../../conformance/library.ts';
import { writeTree } from '../../conformance/write-tree.ts';
import { skillText } from '../text/skill-text.ts';

const nodesBuild: unknown = createRequire(import.meta.url)('yaml');

test('loadSkillsSubsystem() reads many skills with the quick build of the YAML package, with the same results', () => {
  withFolder((dir) => {
    writeTree(dir, { 'broken/SKILL.md': '---\nname: [broken\n---\n', 'plain/SKILL.md': skillText('plain', 'Plain.') });
    const load = (): unknown => {
      const { skills, diagnostics } = loadSkillsSubsystem({ builtinRoot: dir });
      const { fields, body } = skills.find(({ id }) => id === 'public.plain') ?? {};
      return { fields, body, diagnostics };
    };
    const few = load();
    expect(yaml()).toBe(nodesBuild);
    for (let index = 2; index < 500; index += 1)
      writeTree(dir, { [`s${index}/SKILL.md`]: skillText(`s${index}`, 'One.') });
    expect(load()).toEqual(few);
    expect(yaml()).not.toBe(nodesBuild);
  });
});
