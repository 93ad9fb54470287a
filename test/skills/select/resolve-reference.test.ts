import { describe, expect, it } from 'vitest';
import { resolveReference } from '../../../src/skills/select/resolve-references.ts';
import { bareReference } from '../../../src/skills/text/bare-reference.ts';

const LOADED = new Set(['public.a', 'public.desk1', 'public.sk1a', 'public.sk0', 'internal.b', 'custom.skills.c']);
const shortIds = ['internal.b', 'public.gone'];
const resolve = (reference: string, shown: readonly string[] | undefined = shortIds): string | undefined =>
  resolveReference(reference, { has: (id) => LOADED.has(id), shortIds: shown });

describe('resolveReference()', () => {
  it.each([
    ['a full id', 'internal.b', 'internal.b'],
    ['an id without a dot, in public only', 'a', 'public.a'],
    ['an id of internal without a dot', 'b', undefined],
    ['blanks around it', ' a\n', 'public.a'],
    ['another form of its letters', '\uFF41', 'public.a'],
    ['the prefix sk:', 'sk:a', 'public.a'],
    ['the prefix skill:', 'skill:internal.b', 'internal.b'],
    ['the prefix skills.', 'skills.internal.b', 'internal.b'],
    ['both prefixes', 'sk:skills.a', 'public.a'],
    ['a prefix twice', 'sk:sk:a', undefined],
    ['a prefix in the middle', 'custom.skills.c', 'custom.skills.c'],
    ['a short id', 'SK1', 'internal.b'],
    ['a short id after its prefix', 'skill:sk1', 'internal.b'],
    ['a short id of a skill that is not loaded', 'SK2', undefined],
    ['a short id beyond the snapshot', 'SK3', undefined],
    ['an id that ends like a short id', 'desk1', 'public.desk1'],
    ['an id that begins like a short id', 'sk1a', 'public.sk1a'],
    ['an id like a short id, but below 1', 'sk0', 'public.sk0'],
    ['nothing', '', undefined],
  ])('takes %s', (_what, reference, id) => {
    expect(resolve(reference)).toBe(id);
  });

  it('knows no short id without a snapshot', () => {
    expect(resolveReference('SK1', { has: (id) => LOADED.has(id) })).toBeUndefined();
  });
});

it('bareReference() removes one prefix of each kind', () => {
  const references = ['sk:skills.a', ' skill:a ', 'skills.a', 'a.skills.b', 'sk:sk:a', '\uFF41'];
  expect(references.map(bareReference)).toEqual(['a', 'a', 'a', 'a.skills.b', 'sk:a', 'a']);
});
