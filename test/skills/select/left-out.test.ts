import { describe, expect, test } from 'vitest';
import { createTriggerSession, exportRuntimeGlobals, setSkillsDescriptor } from '../../../src/skills/index.ts';
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

describe('what stays out of catalogs and matches', () => {
  test('is told with its reason', () => {
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

  test('only a name without wildcard brings a skill with default_enabled: false back, in sessions too', () => {
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

  test('a skill that models may not invoke loads by an explicit reference and by an import, also in a sandbox', () => {
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

  test('a session lets go of nothing that it never held: what models may not invoke is never active', () => {
    withLibrary(library, ({ subsystem }) => {
      const skills = subsystem.skills;
      const session = createTriggerSession();
      expect(session.turn({ query: 'sk:hand and a pdf', skills }).active).toEqual(['custom.plain', 'custom.secret']);
    });
  });
});
