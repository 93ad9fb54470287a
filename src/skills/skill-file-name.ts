import type { Skill } from '../contracts/skill.ts';

/** The file that makes a folder a skill. */
export const SKILL_FILE = 'SKILL.md';
/** Accepted in its place, with a warning. */
export const SKILL_FILE_LOWER = 'skill.md';

/**
 * Names the file that a skill was read from.
 *
 * @param skill a loaded skill
 * @returns `SKILL.md` or `skill.md`
 */
export function skillFileOf(skill: Pick<Skill, 'files'>): string {
  return skill.files.some((file) => file.path === SKILL_FILE) ? SKILL_FILE : SKILL_FILE_LOWER;
}
