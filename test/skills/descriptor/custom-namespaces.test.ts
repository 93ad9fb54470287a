import { describe, expect, test } from 'vitest';
import { exportRuntimeGlobals, setSkillsDescriptor, validateSkills } from '../../../src/skills/index.ts';
import { checkDescriptor } from '../../../src/skills/descriptor/check-descriptor.ts';
import { withFolder, withLibrary } from '../../conformance/library.ts';
import { writeTree } from '../../conformance/write-tree.ts';
import { skillText } from '../text/skill-text.ts';

const files = {
  'automation/a/SKILL.md': skillText('a', 'A.'),
  'b/SKILL.md': skillText('b', 'B.', 'namespace: automation', 'import: automation.a'),
  'c/SKILL.md': skillText('c', 'C.', 'namespace: ops'),
};

describe('custom_namespaces', () => {
  test('apply only to the root of the descriptor; without them, a diagnostic names the line to add', () => {
    const ids = (kind: 'custom' | 'user' | 'builtin', custom_namespaces: string[]) =>
      withLibrary({ roots: [{ kind, files }], custom_namespaces }, ({ subsystem }) =>
        subsystem.skills.map(({ id }) => id),
      );
    expect(ids('custom', ['automation'])).toEqual(['automation.a', 'automation.b', 'custom.c']);
    expect(ids('user', ['automation'])).toEqual(['custom.a', 'custom.b', 'custom.c']);
    expect(ids('builtin', ['automation'])).toEqual(['public.a', 'public.b', 'public.c']);
    withLibrary({ roots: [{ kind: 'custom', files }], custom_namespaces: ['automation'] }, ({ subsystem }) => {
      expect(subsystem.diagnostics.map(({ code, path, line, column }) => [code, path, line, column])).toEqual([
        ['skill.namespace-unknown', 'c/SKILL.md', 4, 1],
      ]);
      expect(subsystem.diagnostics[0]?.message).toContain('by the line "custom_namespaces": ["ops"].');
    });
  });

  test('travel only with a job that needs them', () => {
    const library = { roots: [{ kind: 'custom' as const, files }], custom_namespaces: ['automation', 'ops', 'unused'] };
    withLibrary(library, ({ subsystem }) => {
      const job = (refs: string[]) => exportRuntimeGlobals(subsystem, { refs, consumer: 'x' });
      const { descriptor, trees, active } = job(['automation.b']);
      expect(active).toEqual(['automation.a', 'automation.b']);
      expect(descriptor.custom_namespaces).toEqual(['automation']);
      const rebuilt = setSkillsDescriptor(descriptor, { arrived: trees });
      expect(rebuilt.skills.map(({ id, rootKind }) => [id, rootKind])).toEqual([
        ['automation.a', 'custom'],
        ['automation.b', 'custom'],
      ]);
      expect(rebuilt.customNamespaces).toEqual(['automation']);
      expect(job([]).descriptor).not.toHaveProperty('custom_namespaces');
    });
  });

  test.each(['public', 'internal', 'custom', 'skills', '', 'Ops', 'a.b', 'a b', 'ﬁn', '-a'])('refuse %j', (name) => {
    const given = { custom_namespaces: ['fine', name] };
    expect(checkDescriptor(given).diagnostics.map(({ code }) => code)).toEqual(['descriptor.invalid']);
    expect(checkDescriptor(given).diagnostics[0]?.message).toContain(`got ${JSON.stringify(name)}`);
    expect(checkDescriptor({ custom_namespaces: ['fine'] }).diagnostics).toEqual([]);
  });
});

describe('the error for a refused descriptor names place and reason', () => {
  test.each<[unknown, string]>([
    [{ custom_skill_root: 'x' }, 'there is no field custom_skill_root, got "x". Did you mean custom_skills_root?'],
    [{ agents_config: { w: { enable: [] } } }, 'there is no field agents_config.w.enable'],
    [{ agents_config: { w: { enabled: 'all' } } }, 'agents_config.w.enabled must be a list'],
    [{ overrides: [1] }, 'overrides.0 must be a text, got 1'],
  ])('%j', (descriptor, sentence) => {
    expect(checkDescriptor(descriptor).diagnostics[0]?.message).toContain(sentence);
  });
});

test('validateSkills() shows the id that a skill of its own namespace has without a descriptor', () => {
  withFolder((dir) => {
    writeTree(dir, files);
    expect(validateSkills(dir).map(({ id }) => id)).toEqual(['custom.a', 'custom.b', 'custom.c']);
  });
});
