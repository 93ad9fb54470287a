import { describe, expect, test } from 'vitest';
import { createTriggerSession, exportRuntimeGlobals, setSkillsDescriptor } from '../../../src/skills/index.ts';
import type { Skill } from '../../../src/contracts/skills/skill.ts';
import { reasonForTools } from '../../../src/skills/select/left-out.ts';
import { withLibrary } from '../../conformance/library.ts';
import { skillText } from '../text/skill-text.ts';

const keyword = 'triggers: pdf';
const library = {
  roots: [
    {
      kind: 'custom' as const,
      files: {
        'hand/SKILL.md': skillText('hand', 'By hand.', keyword, 'disable-model-invocation: true'),
        'odd/SKILL.md': skillText('odd', 'Odd.', keyword, 'disable-model-invocation: "no"'),
        'quiet/SKILL.md': skillText('quiet', 'Quiet.', keyword, 'default_enabled: false'),
        'named/SKILL.md': skillText('named', 'Named.', keyword, 'default_enabled: false'),
        'plain/SKILL.md': skillText('plain', 'Plain.', keyword, 'import: custom.hand'),
        'other/SKILL.md': skillText('other', 'Other.', 'triggers: csv'),
        'secret/SKILL.md': skillText('secret', 'Secret.', keyword),
      },
    },
  ],
  agents_config: {
    writer: { enabled: ['custom.*', 'custom.named', 'custom.hand'], disabled: ['custom.secret'] },
    reader: { enabled: ['custom.*'] },
  },
};

describe('a skill that is left out of catalogs and matches', () => {
  test('is reported with its reason', () => {
    withLibrary(library, ({ subsystem }) => {
      const forModels = 'models may not invoke it (disable-model-invocation)';
      const { ids, leftOut } = subsystem.skillsGalleryText({ consumer: 'writer' });
      expect(ids).toEqual(['custom.named', 'custom.other', 'custom.plain', 'custom.quiet']);
      expect(leftOut).toEqual([
        { id: 'custom.hand', reason: forModels },
        { id: 'custom.odd', reason: forModels },
        { id: 'custom.secret', reason: 'disabled for this consumer' },
      ]);
      const match = subsystem.match('make a pdf', { consumer: 'writer' });
      expect(match.matches.map(({ id }) => id)).toEqual(['custom.named', 'custom.plain']);
      expect(match.leftOut).toEqual([
        { id: 'custom.hand', reason: forModels },
        { id: 'custom.odd', reason: forModels },
        { id: 'custom.quiet', reason: 'default_enabled: false' },
        { id: 'custom.secret', reason: 'disabled for this consumer' },
      ]);
      expect(subsystem.match('make a csv', { consumer: 'writer' }).leftOut).toEqual([]);
    });
  });

  test('with default_enabled: false is enabled only by a name without wildcard, also in sessions', () => {
    withLibrary(library, ({ subsystem }) => {
      expect(subsystem.enabledByName({ consumer: 'writer' })).toEqual(['custom.hand', 'custom.named']);
      expect(subsystem.enabledByName({ consumer: 'reader' })).toEqual([]);
      expect(subsystem.match('a pdf', { consumer: 'reader' }).matches.map(({ id }) => id)).not.toContain(
        'custom.named',
      );
      const skills = subsystem.visible({ consumer: 'writer' });
      const active = (named: string[]) => createTriggerSession().turn({ query: 'a pdf', skills, named }).active;
      expect(active(subsystem.enabledByName({ consumer: 'writer' }))).toEqual(['custom.named', 'custom.plain']);
      expect(active([])).toEqual(['custom.plain']);
    });
  });

  test('because models may not invoke it still loads by an explicit reference and by an import, also in a sandbox', () => {
    withLibrary(library, ({ subsystem }) => {
      const selection = { refs: ['custom.hand', 'custom.plain'], consumer: 'writer' };
      const { descriptor, trees, active } = exportRuntimeGlobals(subsystem, selection);
      expect(active).toEqual(['custom.hand', 'custom.plain']);
      expect(descriptor.catalog?.ids).toEqual(['custom.plain']);
      const rebuilt = setSkillsDescriptor(descriptor, { arrived: trees });
      expect(rebuilt.importSkillset(['custom.plain'], { consumer: 'writer' }).skills.map(({ id }) => id)).toEqual([
        'custom.hand',
        'custom.plain',
      ]);
      expect(rebuilt.skillsGalleryText({ consumer: 'writer' }).ids).toEqual(['custom.plain']);
    });
  });

  test('because models may not invoke it is never active in a session', () => {
    withLibrary(library, ({ subsystem }) => {
      const skills = subsystem.skills;
      const session = createTriggerSession();
      expect(session.turn({ query: 'sk:hand and a pdf', skills }).active).toEqual(['custom.plain', 'custom.secret']);
    });
  });
});

const needing = {
  roots: [
    {
      kind: 'custom' as const,
      files: {
        'needs/SKILL.md': skillText('needs', 'Needs tools.', keyword),
        'needs/tools.yaml':
          'tools: [{ id: crm.find, required: true }, { id: crm.add, required: true }, { id: crm.drop }]',
        'plain/SKILL.md': skillText('plain', 'Plain.', 'triggers: csv'),
        'plain/tools.yaml': 'tools: [crm.find, { id: crm.add, required: false }]',
        'above/SKILL.md': skillText('above', 'Above.', 'import: custom.needs'),
      },
    },
  ],
  agents_config: { writer: { disabled: ['custom.above'] } },
};

describe('a skill that requires a tool which is not offered', () => {
  const reason = 'needs the tool crm.add, which is not offered';
  const tools = ['crm.find', 'crm.drop'];

  test('is in no catalog and no match, with its reason, and is refused', () => {
    withLibrary(needing, ({ subsystem }) => {
      const gallery = subsystem.skillsGalleryText({ tools });
      expect(gallery.ids).toEqual(['custom.above', 'custom.plain']);
      expect(gallery.ids).toEqual(subsystem.catalog({ tools }).ids);
      expect(gallery.leftOut).toEqual([{ id: 'custom.needs', reason }]);
      expect(subsystem.match('a pdf', { tools })).toMatchObject({
        matches: [],
        leftOut: [{ id: 'custom.needs', reason }],
      });
      const { rows, skills } = subsystem.importSkillset(['custom.needs', 'custom.plain'], { tools });
      expect(rows[0]).toEqual({ ref: 'custom.needs', id: 'custom.needs', status: 'denied', reason });
      expect(skills.map(({ id }) => id)).toEqual(['custom.plain']);
      const job = { refs: ['custom.needs'], consumer: 'writer', tools: [] };
      expect(exportRuntimeGlobals(subsystem, job).rows[0]?.reason).toBe(
        'needs the tools crm.find, crm.add, which are not offered',
      );
      expect(subsystem.loadSkill('custom.needs', { tools }).text).toBe('');
    });
  });

  test('is offered if all of its tools are offered, or if the tools are unknown', () => {
    withLibrary(needing, ({ subsystem }) => {
      for (const offered of [undefined, [...tools, 'crm.add']]) {
        expect(subsystem.catalog({ tools: offered }).ids).toContain('custom.needs');
        expect(subsystem.match('a pdf', { tools: offered }).matches.map(({ id }) => id)).toEqual(['custom.needs']);
        expect(subsystem.resolve(['custom.needs'], { tools: offered }).rows[0]?.status).toBe('loaded');
      }
    });
  });

  test('still loads by an import, unless the policy denies it', () => {
    withLibrary(needing, ({ subsystem }) => {
      const imported = subsystem.importSkillset(['custom.above'], { tools: [] });
      expect(imported.skills.map(({ id }) => id)).toEqual(['custom.needs', 'custom.above']);
      const { leftOut } = subsystem.skillsGalleryText({ consumer: 'writer', tools });
      expect(leftOut).toEqual([
        { id: 'custom.above', reason: 'disabled for this consumer' },
        { id: 'custom.needs', reason },
      ]);
    });
  });
});

const NAMED = 3;

test('the reason names some of many missing tools, and counts the others', () => {
  const needing = (count: number): Skill =>
    ({
      tools: Array.from({ length: count }, (_each, index) => ({ id: `t${index}`, required: true })),
    }) as unknown as Skill;
  expect(reasonForTools(needing(NAMED), [])).not.toContain('more');
  expect(reasonForTools(needing(NAMED + 1), [])).toContain(' and 1 more, which are not offered');
});
