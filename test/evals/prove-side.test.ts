import { describe, expect, it } from 'vitest';
import type { JobResult } from '../../src/contracts/jobs/result.ts';
import type { Skill } from '../../src/contracts/skills/skill.ts';
import type { ObservedRequest } from '../../src/evals/observe-model.ts';
import { sideFault } from '../../src/evals/prove-side.ts';

const skill = { id: 'custom.units' } as Skill;
const block = { text: '[ACTIVE SKILLS]\n…\n', sha256: 'abc' };
const WITH = `Rules.\n\n${block.text}`;

function fault(
  withSkill: boolean,
  { active = ['custom.units'], sha256 = 'abc' as string | null, systems = [WITH], attempts = ['0'] },
): string | undefined {
  const requests = systems.map((system, index): ObservedRequest => ({ system, promptSha256: String(index) }));
  const result = {
    skills: { active, digest: null, instructionSha256: sha256 },
    codegen: { attempts: attempts.map((promptSha256) => ({ promptSha256 })) },
  } as unknown as Pick<JobResult, 'skills' | 'codegen'>;
  return sideFault(result, requests, withSkill, { skill, block });
}

describe('sideFault()', () => {
  it('counts a run with the skill if all evidence agrees', () => {
    expect(fault(true, {})).toBeUndefined();
    expect(fault(true, { systems: [WITH, WITH], attempts: ['0', '1'] })).toBeUndefined();
  });

  it.each<[string, Parameters<typeof fault>[1], string]>([
    ['it did not arrive', { active: [] }, 'custom.units did not arrive in the sandbox'],
    ['another text arrived', { sha256: 'abd' }, 'the sandbox rendered other instructions than the host, got abd'],
    ['a prompt lacks it', { systems: [WITH, 'Rules.'] }, '1 of its prompts lack custom.units'],
    ['a byte of it differs', { systems: [WITH.replace('…', '..')] }, '1 of its prompts lack custom.units'],
    ['no model was asked', { systems: [], attempts: [] }, 'no model was asked'],
    [
      'the sandbox reports another prompt',
      { attempts: ['0', '7'] },
      'the sandbox reports a prompt that no model got, 7',
    ],
  ])('does not count a run with the skill if %s', (_what, run, reason) => {
    expect(fault(true, run)).toBe(reason);
  });

  it('counts a run without the skill only if the skill was nowhere', () => {
    const plain = { active: [], sha256: null, systems: ['Rules.'] };
    expect(fault(false, plain)).toBeUndefined();
    expect(fault(false, { ...plain, active: ['custom.units'] })).toBe('custom.units was there');
    expect(fault(false, { ...plain, systems: [WITH] })).toBe('custom.units was there');
    expect(fault(false, { ...plain, active: ['custom.other'] })).toBe('other skills were there, got custom.other');
  });
});
