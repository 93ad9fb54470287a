import type { LockedSkill } from '../../lock/format/lock-format.ts';
import type { FoundSkill } from '../../sources/find-in-source.ts';

/**
 * The lock entry for a skill of a source. An approval is kept where the bytes are the same.
 *
 * @param place path of its folder, relative to the folder of the lock file; null for a built-in skill
 * @param before the earlier entry of its id
 */
export function lockedSkill(
  { skill, origin }: FoundSkill,
  place: string | null,
  before: LockedSkill | undefined,
): LockedSkill {
  const { id, fields, digest, files } = skill;
  const approval = before?.approval?.digest === digest ? before.approval : null;
  return { id, version: fields.version ?? null, place, origin, digest, files, approval };
}
