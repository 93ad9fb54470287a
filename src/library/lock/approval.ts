import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { LockedSkill } from './format/lock-format.ts';

/** Whether the locked bytes are approved. */
export function isApproved({ approval, digest }: Pick<LockedSkill, 'approval' | 'digest'>): boolean {
  return approval !== null && approval.digest === digest;
}

/** @throws SkillcellError `lock.unapproved` */
export function assertApproved(skill: LockedSkill): void {
  if (isApproved(skill)) return;
  throw new SkillcellError('lock.unapproved', `Cannot use ${skill.id}: its bytes are not approved.`);
}
