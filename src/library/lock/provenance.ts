import type { KnownProvenance } from '../../authoring/explain-skill.ts';
import type { Skill } from '../../contracts/skills/skill.ts';
import { isApproved } from './approval.ts';
import type { SkillLock } from './format/lock-format.ts';

/** The lock file's record of a skill: approval of the loaded bytes, and their origin. */
export function provenanceBy(lock: SkillLock | undefined): (skill: Skill) => KnownProvenance {
  return ({ id, digest }) => {
    const locked = lock?.get(id);
    if (locked === undefined) return {};
    const isSame = locked.digest === digest;
    const by = isSame && isApproved(locked) ? (locked.approval?.by ?? null) : null;
    const { type, ...rest } = locked.origin;
    return { approval: { by }, origin: isSame && type !== 'builtin' ? { type, ...rest } : undefined };
  };
}
