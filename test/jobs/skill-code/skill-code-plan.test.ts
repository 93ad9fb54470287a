import { describe, expect, it } from 'vitest';
import type { Skill, SkillFields } from '../../../src/contracts/skills/skill.ts';
import { planSkillCode } from '../../../src/jobs/skill-code/skill-code-plan.ts';

const FILES = ['tools.ts', 'lib/index.js', 'bare.mjs', 'work.py', 'pack/__init__.py', 'both.ts', 'both.py'];

const skillOf = (fields: SkillFields): Skill =>
  ({ id: 'custom.a', fields, files: FILES.map((path) => ({ path })) }) as Skill;

describe('planSkillCode()', () => {
  it.each<[string, string, string, string]>([
    ['tools', 'javascript', 'tools.ts', 'default'],
    ['tools.ts', 'javascript', 'tools.ts', 'default'],
    ['./tools.ts:make', 'javascript', 'tools.ts', 'make'],
    ['tools:', 'javascript', 'tools.ts', 'default'],
    ['lib', 'javascript', 'lib/index.js', 'default'],
    ['bare.mjs', 'javascript', 'bare.mjs', 'default'],
    ['both', 'javascript', 'both.ts', 'default'],
    ['work.py', 'python', 'work.py', 'default'],
    ['pack:Tools', 'python', 'pack/__init__.py', 'Tools'],
  ])('finds the toolset %s', (reference, language, path, name) => {
    expect(planSkillCode(skillOf({ toolsets: [reference] }))).toMatchObject([
      { language, spec: { toolsets: [{ path, name }] } },
    ]);
  });

  it.each<[string, string, string]>([
    ['pack', 'python', 'pack/__init__.py'],
    ['work', 'python', 'work.py'],
    ['both', 'python', 'both.py'],
    ['./tools.ts', 'javascript', 'tools.ts'],
  ])('finds the provider in the module %s', (module, language, path) => {
    expect(planSkillCode(skillOf({ provider: { module, class: 'Tools' } }))).toMatchObject([
      { language, spec: { provider: { path, name: 'Tools' } } },
    ]);
  });

  it.each<[SkillFields, string]>([
    [{ toolsets: ['missing'] }, 'toolsets must name a file of the skill, got "missing"'],
    [{ toolsets: ['data.json'] }, 'toolsets must name a file of the skill, got "data.json"'],
    [{ provider: { module: 'work' } }, 'provider must have a module and a class, got {"module":"work"}'],
    [{ provider: { class: 'Tools' } }, 'provider must have a module and a class, got {"class":"Tools"}'],
    [{ provider: { module: 'a.b', class: 'Tools' } }, 'provider.module must name a file of the skill, got "a.b"'],
    [{ provider: { module: 'work', class: 'Tools' }, tools: [{ name: 1 }] }, 'tools must be a list of'],
  ])('refuses %j', (fields, message) => {
    expect(() => planSkillCode(skillOf(fields))).toThrow(`Cannot load the code of custom.a: ${message}`);
  });

  it('gives a skill without code no part', () => {
    expect(planSkillCode(skillOf({}))).toEqual([]);
  });
});
