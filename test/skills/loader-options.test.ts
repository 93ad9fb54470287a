import { describe, expect, it } from 'vitest';
import { loadSkillsSubsystem, setSkillsDescriptor, validateSkills } from '../../src/skills/index.ts';

describe('the loaders of skills name field, value and allowed values when they refuse', () => {
  it.each<[() => unknown, string]>([
    [
      () => loadSkillsSubsystem({ builtInRoot: '/skills' } as never),
      'Cannot load skills: there is no field builtInRoot, got "/skills". Did you mean builtinRoot?',
    ],
    [
      () => loadSkillsSubsystem({ root: [] } as never),
      'Cannot load skills: there is no field root, got a list of 0. Did you mean roots?',
    ],
    [
      () => loadSkillsSubsystem({ roots: '/skills' } as never),
      'Cannot load skills: roots must be a list, got "/skills".',
    ],
    [
      () => loadSkillsSubsystem({ roots: [{ kind: 'builtins', path: '/x' }] } as never),
      'Cannot load skills: roots.0.kind must be one of builtin, company, user, project, custom, got "builtins".',
    ],
    [
      () => loadSkillsSubsystem({ roots: [{ kind: 'project', path: '/x', trusted: 'yes' }] } as never),
      'Cannot load skills: roots.0.trusted must be true or false, got "yes".',
    ],
    [
      () => loadSkillsSubsystem({ roots: [{ kind: 'custom' }] } as never),
      'Cannot load skills: roots.0.path is missing: it must be a text.',
    ],
    [() => loadSkillsSubsystem({ builtinRoot: 5 } as never), 'Cannot load skills: builtinRoot must be a text, got 5.'],
    [
      () => setSkillsDescriptor({}, { arrived: {} } as never),
      'Cannot set the skills descriptor: arrived must be a Map of trees by skill id, got an object.',
    ],
    [
      () => validateSkills('/tmp', { strickt: true } as never),
      'Cannot validate skills: there is no field strickt, got true. Did you mean strict?',
    ],
    [() => validateSkills('', {}), 'Cannot validate skills: the path must be a text that is not empty, got "".'],
  ])('%s', (call, message) => {
    expect(call).toThrow(expect.objectContaining({ code: 'options.invalid', message }));
  });

  it('and accept undefined options', () => {
    const none = { roots: undefined, descriptor: undefined, bundleRoot: undefined, builtinRoot: null };
    expect(loadSkillsSubsystem(none).skills).toEqual([]);
  });
});
