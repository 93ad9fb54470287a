import type { LockedSkill } from '../../lock/format/lock-format.ts';
import type { FoundSkill } from '../../sources/find-in-source.ts';

/**
 * A skill of a source as it is locked. An approval is of bytes: it stays where they do.
 *
 * @param place path of its folder below that of the lock file; null for a skill of the package
 * @param before what was locked under its id
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
