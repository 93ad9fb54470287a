import { quotedText } from '../../contracts/text/quoted-text.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { bareReference } from '../../skills/text/bare-reference.ts';
import type { LockedSkill, SkillLock } from './format/lock-format.ts';

/**
 * Finds locked skills by references: a full id, or its part after the dot where only one locked skill has it.
 *
 * @param others fallback where a reference names no locked skill
 * @returns each skill once, in the order of the references
 * @throws SkillcellError `skills.reference-unknown`
 */
export function lockedByReference(lock: SkillLock, refs: readonly string[], others?: () => SkillLock): LockedSkill[] {
  const found = refs.map((ref) => {
    const text = bareReference(ref);
    const locked = namedIn(lock, text);
    const rows = locked.length > 0 || others === undefined ? locked : namedIn(others(), text);
    const [skill] = rows;
    if (skill !== undefined && rows.length === 1) return skill;
    const reason = rows.length === 0 ? 'it is not locked' : `it may be ${rows.map(({ id }) => id).join(' or ')}`;
    throw new SkillcellError('skills.reference-unknown', `Cannot find the skill: ${reason}, got ${quotedText(ref)}.`, {
      hint: '`skillcell skills verify` lists the locked skills.',
    });
  });
  return [...new Set(found)];
}

function namedIn(lock: SkillLock, text: string): LockedSkill[] {
  const exact = lock.get(text);
  if (exact !== undefined) return [exact];
  return [...lock.values()].filter(({ id }) => id.slice(id.indexOf('.') + 1) === text);
}
