import { describe, expect, it } from 'vitest';
import type { Skill } from '../../src/contracts/skills/skill.ts';
import { SkillcellError } from '../../src/contracts/errors/skillcell-error.ts';
import { chooseVersions, type VersionRequest } from '../../src/library/snapshot/choose-versions.ts';
import { seededRandom, shuffled } from '../chaos/seeded-random.ts';

/** A skill with only the fields that matter for versions. */
const skill = (id: string, version: string, imports: string[] = []): Skill =>
  ({ id, fields: { version, imports } }) as Partial<Skill> as Skill;

function request(skills: readonly Skill[], ids: readonly string[], more: Partial<VersionRequest> = {}): VersionRequest {
  const versions = new Map(skills.map(({ id }) => [id, skills.filter((each) => each.id === id)]));
  return { ids, demands: [], versions, denies: () => false, ...more };
}

/** The chosen versions, or the code of the error. */
function outcome(given: VersionRequest): string[] | string {
  try {
    return [...chooseVersions(given)].map(([id, { fields }]) => `${id} ${fields.version}`).toSorted();
  } catch (error) {
    return SkillcellError.isInstance(error) ? error.code : String(error);
  }
}

/** Many skills whose two versions fit everything, and two skills that never go together. */
const hopeless = (count: number): { skills: Skill[]; ids: string[] } => {
  const free = Array.from({ length: count }, (_, index) => `custom.a${String(index).padStart(2, '0')}`);
  const skills = free.flatMap((id) => ['2.0.0', '1.0.0'].map((version) => skill(id, version)));
  return {
    skills: [...skills, skill('custom.y', '1.0.0'), skill('custom.z', '1.0.0', ['custom.y@^9'])],
    ids: [...free, 'custom.y', 'custom.z'],
  };
};

describe('chooseVersions()', () => {
  it('reports that it gave up, and names versions that do not go together', () => {
    const small = hopeless(5);
    expect(() => chooseVersions(request(small.skills, small.ids))).toThrow(
      expect.objectContaining({
        code: 'skills.version-unmet',
        message: expect.stringContaining(
          'Cannot load custom.y: custom.z asks for "^9", and no version fits, got "1.0.0"',
        ) as string,
      }),
    );
    const large = hopeless(14);
    expect(() => chooseVersions(request(large.skills, large.ids))).toThrow(
      expect.objectContaining({
        code: 'skills.version-unmet',
        message: expect.stringMatching(/no versions that go together were found within 10016 attempts\.$/) as string,
        hint: expect.stringContaining('custom.z asks for "^9"') as string,
      }),
    );
  });

  it('resolves a closure of any size and depth', () => {
    const ids = Array.from({ length: 12_000 }, (_, index) => `custom.s${index}`);
    const chain = ids.map((id, index) => skill(id, '1.0.0', index + 1 < ids.length ? [`${ids[index + 1]}@^1`] : []));
    const versions = new Map(chain.map((each) => [each.id, [each]]));
    expect(chooseVersions(request([], ['custom.s0'], { versions })).size).toBe(12_000);
  });

  it('chooses the same versions for any order of skills, requests and imports', () => {
    const random = seededRandom(7);
    const inTen = (count: number): boolean => random.between(1, 10) <= count;
    const seen = new Map<string, number>();
    for (let round = 0; round < 150; round += 1) {
      const names = ['a', 'b', 'c', 'd', 'e'].map((name) => `custom.${name}`);
      const ranges = ['', '@^1', '@^2', '@>=1', '@<2', '@^3'] as const;
      const versions = names.map((id): [string, Skill[]] => [
        id,
        ['1.0.0', '2.0.0', '3.0.0']
          .filter(() => inTen(7))
          .map((version) =>
            skill(
              id,
              version,
              names.filter(() => inTen(4)).map((other) => `${other}${random.pick(ranges)}`),
            ),
          ),
      ]);
      const ids = names.filter(() => inTen(5));
      const demands = names
        .filter(() => inTen(2))
        .map((id) => ({ id, range: random.pick(['^1', '<3', '^2']), by: 'the request' }));
      const skillsOf = (order: <Item>(items: readonly Item[]) => Item[]): VersionRequest => ({
        ids: order(ids),
        demands: order(demands),
        versions: new Map(
          order(versions.filter(([, there]) => there.length > 0)).map(([id, there]) => [
            id,
            // The order of versions is part of the request; the order of imports is not.
            there.map((each) => skill(id, each.fields.version ?? '', order(each.fields.imports ?? []))),
          ]),
        ),
        denies: (id) => id === 'custom.e' && round % 3 === 0,
      });
      const first = outcome(skillsOf((items) => [...items]));
      const kind = typeof first === 'string' ? first : 'chosen';
      seen.set(kind, (seen.get(kind) ?? 0) + 1);
      for (let turn = 0; turn < 6; turn += 1)
        expect(outcome(skillsOf((items) => shuffled(random, items))), `round ${round}`).toEqual(first);
    }
    expect(seen.get('chosen')).toBeGreaterThan(20);
    expect(seen.get('skills.version-unmet')).toBeGreaterThan(20);
    expect(seen.size).toBe(2);
  });
});
