import { describe, expect, it } from 'vitest';
import type { Skill } from '../../../src/contracts/skills/skill.ts';
import { admitApproved } from '../../../src/library/lock/admit-approved.ts';
import { assertApproved, isApproved } from '../../../src/library/lock/approval.ts';
import type { LockedSkill } from '../../../src/library/lock/format/lock-format.ts';
import { lockedByReference } from '../../../src/library/lock/locked-by-reference.ts';
import { provenanceBy } from '../../../src/library/lock/provenance.ts';
import { digestOf } from '../../../src/skills/text/digest.ts';

const [NOW, THEN] = [digestOf('now'), digestOf('then')];

const locked = (id: string, digest: string, approved: string | null): LockedSkill => ({
  id,
  version: null,
  place: `skills/${id}`,
  origin: { type: 'git', source: 'https://host.example/a', folder: '.' },
  digest,
  files: [],
  approval: approved === null ? null : { by: 'Ana', digest: approved },
});
const lockOf = (...skills: LockedSkill[]): Map<string, LockedSkill> => new Map(skills.map((each) => [each.id, each]));
const loaded = (id: string, digest: string): Skill =>
  ({ id, skillId: id.slice(id.indexOf('.') + 1), digest, path: id, dir: id, files: [] }) as unknown as Skill;

describe('an approval', () => {
  it('covers only the reviewed bytes', () => {
    expect(isApproved(locked('custom.a', NOW, NOW))).toBe(true);
    for (const approved of [THEN, null]) {
      const skill = locked('custom.a', NOW, approved);
      expect(isApproved(skill)).toBe(false);
      expect(() => assertApproved(skill)).toThrow(expect.objectContaining({ code: 'lock.unapproved' }) as Error);
    }
  });

  it('admits only a skill with its name and its bytes', () => {
    const admit = admitApproved(
      lockOf(locked('custom.a', NOW, NOW), locked('custom.b', THEN, null), locked('custom.c', THEN, NOW)),
    );
    expect(admit(loaded('custom.a', NOW))).toBeUndefined();
    expect(admit(loaded('user.a', NOW))).toBeUndefined();
    for (const [id, digest] of [
      ['custom.a', THEN],
      ['custom.b', THEN],
      // Here other bytes are approved, or the same bytes under another name.
      ['custom.c', THEN],
      ['custom.c', NOW],
      ['custom.b', NOW],
      ['custom.d', NOW],
    ] as const)
      expect(admit(loaded(id, digest))?.code, `${id} ${digest}`).toBe('lock.not-approved');
  });

  it('is part of the provenance only where the loaded bytes are the same', () => {
    const told = provenanceBy(lockOf(locked('custom.a', NOW, NOW), locked('custom.b', NOW, THEN)));
    expect(told(loaded('custom.a', NOW))).toMatchObject({ approval: { by: 'Ana' }, origin: { type: 'git' } });
    expect(told(loaded('custom.a', THEN))).toEqual({ approval: { by: null }, origin: undefined });
    expect(told(loaded('custom.b', NOW)).approval).toEqual({ by: null });
    expect(told(loaded('custom.c', NOW))).toEqual({});
  });
});

describe('lockedByReference()', () => {
  const lock = lockOf(locked('custom.a', NOW, null), locked('user.a', NOW, null), locked('custom.b', NOW, null));

  it('finds each skill once, and refuses an ambiguous name', () => {
    expect(lockedByReference(lock, ['custom.a', 'b', 'custom.b']).map(({ id }) => id)).toEqual([
      'custom.a',
      'custom.b',
    ]);
    for (const ref of ['a', 'c'])
      expect(() => lockedByReference(lock, [ref])).toThrow(
        expect.objectContaining({ code: 'skills.reference-unknown' }) as Error,
      );
  });
});
