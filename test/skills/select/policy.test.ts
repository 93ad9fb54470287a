import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { globMatch } from '../../../src/skills/text/glob-match.ts';
import { checkPolicy, policyFor } from '../../../src/skills/select/policy.ts';
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

  test.each([undefined, '*', 'c'])('ignores enabled of every consumer for %s, but applies its disabled', (consumer) => {
    const policy = policyFor({ '*': { enabled: ['a'], disabled: ['b'] } }, consumer);
    expect([policy.allows('public.other'), policy.names('public.a')]).toEqual([true, false]);
    expect([policy.denies('public.b'), policy.allows('public.b')]).toEqual([true, false]);
  });

  test('combines its own rule with disabled of every consumer, which wins', () => {
    const policy = policyFor({ '*': { disabled: ['b'] }, c: { enabled: ['a', 'b', 'd*'], disabled: ['d1'] } }, 'c');
    const allowed = ['a', 'b', 'c', 'd1'].filter((id) => policy.allows(`public.${id}`));
    const named = ['a', 'b', 'c', 'd1'].filter((id) => policy.names(`public.${id}`));
    const denied = ['a', 'b', 'c', 'd1'].filter((id) => policy.denies(`public.${id}`));
    // One pattern has a wildcard; the other lacks a namespace and means public.
    expect([allowed, named, denied]).toEqual([['a'], ['a', 'b'], ['b', 'd1']]);
  });
});

describe('checkPolicy()', () => {
  test('reports each pattern that matches no skill, and enabled of every consumer', () => {
    const config = { '*': { enabled: ['a'], disabled: ['x'] }, c: { enabled: ['y*', 'internal.*'], disabled: ['a'] } };
    const found = checkPolicy(config, ['public.a', 'internal.b']);
    expect(found.map(({ code, message }) => [code, /"[^"]*"/.exec(message)?.[0]])).toEqual([
      ['policy.star-enabled', '"*"'],
      ['policy.pattern-unused', '"x"'],
      ['policy.pattern-unused', '"y*"'],
    ]);
    expect(checkPolicy({ '*': { disabled: ['a'] }, c: {} }, ['public.a'])).toEqual([]);
  });
});
