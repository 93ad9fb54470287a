import type { Skill } from '../../../contracts/skills/skill.ts';
import { compareCodePoints } from '../../text/text.ts';

/** The file that makes a folder a skill. */
export const SKILL_FILE = 'SKILL.md';
/** Accepted in its place, with a warning. */
export const SKILL_FILE_LOWER = 'skill.md';

/** ASCII letters only: even a file system that folds case maps no other letter to one of these. */
const ANY_SPELLING = /^skill\.md$/i;

/**
 * Tells whether a name is `SKILL.md` or differs from it in case only.
 *
 * @param name name of a file, without folders
 */
export function isSkillFileName(name: string): boolean {
  return name.length === SKILL_FILE.length && ANY_SPELLING.test(name);
}

/**
 * Picks the spellings of `SKILL.md` out of names, in the order in which they count: `SKILL.md`, `skill.md`, then the others.
 *
 * @param names names in a folder
 * @returns a new list
 */
export function skillFileNames(names: readonly string[]): string[] {
  const rank = (name: string): number => [SKILL_FILE, SKILL_FILE_LOWER].indexOf(name) + 1 || 3;
  return names.filter(isSkillFileName).toSorted((a, b) => rank(a) - rank(b) || compareCodePoints(a, b));
}

/**
 * Names the file that a skill was read from.
 *
 * @param skill a loaded skill
 * @returns `SKILL.md` or another spelling of it
 */
export function skillFileOf(skill: Pick<Skill, 'files'>): string {
  return skillFileNames(skill.files.map((file) => file.path))[0] ?? SKILL_FILE;
}

/**
 * Names the file that a skill was read from, for a diagnostic.
 *
 * @param skill a loaded skill
 * @returns the path below its root
 */
export function skillFilePath(skill: Pick<Skill, 'files' | 'dir'>): string {
  const name = skillFileOf(skill);
  return skill.dir === '.' ? name : `${skill.dir}/${name}`;
}
