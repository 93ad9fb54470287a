import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { explainSkill, type SkillExplanation } from '../../src/authoring/explain-skill.ts';
import type { ConsumerOptions } from '../../src/skills/subsystem-contract.ts';
import { skillLibrary, skillText, type SkillLibrary } from '../fixtures/skill-library.ts';

let builtin: SkillLibrary;
let library: SkillLibrary;
beforeAll(() => {
  builtin = skillLibrary({
    'internal/base/SKILL.md': skillText({ name: 'base', description: 'Base 4711.' }, 'Base.\n'),
  });
  library = skillLibrary(
    {
      'report/SKILL.md': skillText(
        {
          name: 'report',
          description: 'Reports.',
          version: '1.2',
          import: ['custom.style', 'internal.base', 'custom.none', 'custom.safe'],
        },
        'Report.\n',
      ),
      'style/SKILL.md': skillText({ name: 'style', description: 'Style.', import: ['custom.report'] }, 'Style it.\n'),
      'safe/SKILL.md': skillText({ name: 'safe', description: 'Safe 4711.', default_enabled: false }, 'Code 4711.\n'),
      'safe/tools.yaml': 'tools:\n  - id: secret.tool\n    required: true\n',
      'people/SKILL.md': skillText({ name: 'people', description: 'x', 'disable-model-invocation': true }, 'x\n'),
    },
    {
      builtinRoot: builtin.root,
      agentsConfig: {
        '*': { disabled: ['public.old-*'] },
        desk: { disabled: ['custom.safe'], enabled: ['custom.*'] },
        chart: { enabled: ['public.chart'] },
      },
    },
  );
});
afterAll(() => {
  library[Symbol.dispose]();
  builtin[Symbol.dispose]();
});

const explain = (ref: string, who: ConsumerOptions = {}): SkillExplanation => explainSkill(library.subsystem, ref, who);
const rules = ({ rules: found }: SkillExplanation): string[] => found.map(({ rule, says }) => `${says}: ${rule}`);

describe('explainSkill()', () => {
  it('names each rule for and against, origin, imports and tokens', () => {
    const told = explain('custom.report', { consumer: 'desk' });
    expect(rules(told)).toEqual(['for: agents_config["desk"].enabled "custom.*"']);
    expect(told).toMatchObject({
      patternsOfOthers: 2,
      id: 'custom.report',
      status: 'loaded',
      offered: true,
      skill: {
        version: '1.2',
        origin: { root: 'custom', folder: 'report' },
        tokens: { body: 2, withImports: 7 },
        loads: [{ id: 'custom.style' }, { id: 'internal.base' }, { id: 'custom.report' }],
        imports: [
          { from: 'custom.report', to: 'custom.style', state: 'followed' },
          { from: 'custom.report', to: 'internal.base', state: 'followed' },
          { from: 'custom.report', to: 'custom.none', state: 'unknown' },
          { from: 'custom.report', to: 'custom.safe', state: 'denied' },
          { from: 'custom.style', to: 'custom.report', state: 'cycle' },
        ],
      },
    });
    expect(told.skill).not.toHaveProperty('approval');
  });

  it.each([
    ['custom.safe', { consumer: 'desk' }, 'against: agents_config["desk"].disabled "custom.safe"'],
    ['custom.safe', { consumer: 'chart' }, 'against: agents_config["chart"].enabled'],
    ['internal.base', { consumer: 'other' }, 'against: namespace'],
  ])('says that %s is denied for %j and why, and nothing of its content', (ref, who, rule) => {
    const told = explain(ref, who);
    expect(told).toMatchObject({ status: 'denied', offered: false });
    expect(rules(told)).toContain(rule);
    expect(JSON.stringify(told)).not.toMatch(/4711|secret\.tool|sha256|default_enabled/);
    expect(told).not.toHaveProperty('skill');
    expect(told.rules.filter(({ says }) => says === 'nothing')).toHaveLength(who.consumer === 'other' ? 1 : 0);
  });

  it('explains why a skill is left out of catalogs and matches', () => {
    const people = explain('custom.people', { consumer: 'other' });
    expect(people).toMatchObject({ status: 'loaded', offered: false });
    expect(rules(people)).toContain('against: disable-model-invocation');
    expect(rules(explain('custom.safe'))).toContain('against: default_enabled: false');
    expect(explain('custom.safe', { tools: [] })).toMatchObject({ status: 'denied' });
  });

  it('takes approval and origin from the given provenance', () => {
    const origin = {
      type: 'git' as const,
      source: 'https://example.org/x.git',
      folder: 'report',
      commit: 'c'.repeat(40),
    };
    const told = explainSkill(library.subsystem, 'custom.report', {}, () => ({ origin, approval: { by: 'Ada' } }));
    expect(told.skill).toMatchObject({ origin: { from: origin }, approval: { by: 'Ada' } });
  });

  it('reports nothing about an unknown skill', () => {
    expect(explain('custom.absent')).toEqual({
      ref: 'custom.absent',
      status: 'unknown',
      offered: false,
      rules: [],
      patternsOfOthers: 0,
    });
  });
});
