import type { Diagnostic } from '../../contracts/diagnostic.ts';
import { libraryDiagnostic } from '../../contracts/library-diagnostic.ts';
import type { Skill } from '../../contracts/skill.ts';
import { skillFilePath } from '../../skills/load/skill-file-name.ts';
import { isApproved } from './approval.ts';
import type { SkillLock } from './lock-format.ts';

/**
 * Makes the check of `--frozen`: only a skill whose bytes, as they were read, are locked and approved is loaded. What is approved are the bytes
 * under one name; which root they are read from decides on the namespace, and on nothing else.
 *
 * @returns says why a skill is not loaded, by a diagnostic that begins with its full id
 */
export function admitApproved(lock: SkillLock): (skill: Skill) => Diagnostic | undefined {
  const approved = new Set<string>();
  const locked = new Set<string>();
  for (const skill of lock.values()) {
    const key = keyOf(skill.id.slice(skill.id.indexOf('.') + 1), skill.digest);
    locked.add(key);
    if (isApproved(skill)) approved.add(key);
  }
  return (skill) => {
    const key = keyOf(skill.skillId, skill.digest);
    if (approved.has(key)) return undefined;
    const reason = locked.has(key) ? 'nobody has approved its bytes' : 'its bytes are not locked';
    return libraryDiagnostic('lock.not-approved', `${skill.id} is not loaded: ${reason}.`, {
      path: skillFilePath(skill),
    });
  };
}

function keyOf(skillId: string, digest: string): string {
  return `${skillId} ${digest}`;
}
