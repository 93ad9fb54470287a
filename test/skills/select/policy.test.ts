import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { globMatch } from '../../../src/skills/text/glob-match.ts';
import { policyFor } from '../../../src/skills/select/policy.ts';
import { setSkillsDescriptor } from '../../../src/skills/index.ts';
import { codeOf } from '../code-of.ts';
import { cpuMs } from '../../fixtures/cpu-ms.ts';

describe('globMatch()', () => {
  test('agrees with a regular expression', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '.', '😀'), maxLength: 12 });
    const patterns = fc.string({ unit: fc.constantFrom('a', 'b', '.', '😀', '*', '?'), maxLength: 8 });
    fc.assert(
      fc.property(letters, patterns, (text, pattern) => {
        const source = pattern.replaceAll('.', '\\.').replaceAll('*', '.*').replaceAll('?', '.');
        expect(globMatch([...pattern], [...text])).toBe(new RegExp(`^${source}$`, 'u').test(text));
      }),
      { numRuns: 2_000 },
    );
  });

  test('takes linear time for many stars', () => {
    const takenMs = cpuMs(() => expect(globMatch([...`${'*a'.repeat(200)}b`], [...'a'.repeat(2_000)])).toBe(false));
    expect(takenMs).toBeLessThan(500);
  });
});

describe('policyFor()', () => {
  test.each(['constructor', 'toString', 'hasOwnProperty'])('has no rule for a consumer called %s', (consumer) => {
    expect(policyFor({}, consumer).allows('public.a')).toBe(true);
    expect(policyFor({ [consumer]: { enabled: [] } }, consumer).allows('public.a')).toBe(false);
  });

  test('a descriptor with a rule for __proto__ is refused, not half applied', () => {
    const descriptor: unknown = JSON.parse('{"agents_config": {"__proto__": {"disabled": ["*"]}}}');
    expect(codeOf(() => setSkillsDescriptor(descriptor))).toBe('skills.descriptor-invalid');
  });

  test('a decomposed pattern denies the composed id', () => {
    expect(policyFor({ c: { disabled: ['public.cafe\u0301'] } }, 'c').denies('public.café')).toBe(true);
  });
});
