import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import { libraryDiagnostic } from '../../contracts/errors/library-diagnostic.ts';
import type { Skill } from '../../contracts/skills/skill.ts';
import { skillFilePath } from '../../skills/load/files/skill-file-name.ts';
import { isApproved } from './approval.ts';
import type { SkillLock } from './format/lock-format.ts';

/**
 * Makes the check of `--frozen`: only a skill whose bytes, as they were read, are locked and approved is loaded. What is approved are the bytes
 * under one name; which root they are read from decides on the namespace, and on nothing else.
 *
 * @returns says why a skill is not loaded, by a diagnostic with its full id
 */
export function admitApproved(lock: SkillLock): (skill: Skill) => Diagnostic | undefined {
  const approved = new Set<string>();
  /** Ids of what is locked under a name, and of what has these bytes too. */
  const locked = new Map<string, string>();
  for (const skill of lock.values()) {
    const name = skill.id.slice(skill.id.indexOf('.') + 1);
    const key = keyOf(name, skill.digest);
    locked.set(name, skill.id).set(key, skill.id);
    if (isApproved(skill)) approved.add(key);
  }
  return (skill) => {
    const key = keyOf(skill.skillId, skill.digest);
    if (approved.has(key)) return undefined;
    const other = locked.get(key) ?? locked.get(skill.skillId);
    // The root that it is read from gives it its namespace, so that it may have another one than is locked.
    const as = other === undefined || other === skill.id ? '' : ` as ${other}`;
    const reason = locked.has(key)
      ? `nobody has approved its bytes${as === '' ? '' : `, which are locked${as}`}`
      : `its bytes are not ${other === undefined ? '' : 'those that are '}locked${as}`;
    return libraryDiagnostic('lock.not-approved', `${skill.id} is not loaded: ${reason}.`, {
      path: skillFilePath(skill),
      skill: skill.id,
    });
  };
}

function keyOf(skillId: string, digest: string): string {
  return `${skillId} ${digest}`;
}
