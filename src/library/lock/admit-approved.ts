import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import { libraryDiagnostic } from '../../contracts/errors/library-diagnostic.ts';
import type { Skill } from '../../contracts/skills/skill.ts';
import { skillFilePath } from '../../skills/load/files/skill-file-name.ts';
import { isApproved } from './approval.ts';
import type { SkillLock } from './format/lock-format.ts';

/**
 * Makes the check of `--frozen`: a skill loads only if its bytes are locked and approved. An approval covers the bytes under one name. The root of
 * the skill decides only its namespace.
 *
 * @returns a function that gives the reason why a skill is not loaded, as a diagnostic with its full id
 */
export function admitApproved(lock: SkillLock): (skill: Skill) => Diagnostic | undefined {
  const approved = new Set<string>();
  /** Full ids of locked skills, by name, and by name with digest. */
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
    // Its root decides its namespace, which may differ from the locked one.
    const as = other === undefined || other === skill.id ? '' : ` as ${other}`;
    const reason = locked.has(key)
      ? `its bytes are not approved${as === '' ? '' : `, but locked${as}`}`
      : `its bytes are not ${other === undefined ? '' : 'the bytes that are '}locked${as}`;
    return libraryDiagnostic('lock.not-approved', `${skill.id} is not loaded: ${reason}.`, {
      path: skillFilePath(skill),
      skill: skill.id,
    });
  };
}

function keyOf(skillId: string, digest: string): string {
  return `${skillId} ${digest}`;
}
