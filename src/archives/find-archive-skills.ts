import type { SkillTree } from '../contracts/skill.ts';
import { ROOT_DEPTH } from '../skills/load/find-skill-folders.ts';
import { isSkillFileName } from '../skills/load/skill-file-name.ts';
import { compareCodePoints } from '../skills/text/text.ts';
import { foldersAbove } from './name-collision.ts';

/** A skill in an archive. */
export interface ArchiveSkill {
  /** Path of its folder in the archive, `.` for the archive itself. */
  folder: string;
  /** Files by their paths below that folder. */
  tree: SkillTree;
}

/**
 * Finds the folders with a SKILL.md among the files of an archive, by the rules of a folder of skills: nothing below one is searched.
 *
 * @returns the skills in path order, and paths of files that belong to none
 */
export function findArchiveSkills(files: SkillTree): { skills: ArchiveSkill[]; beside: string[] } {
  const holding = new Set([...files.keys()].filter((path) => isSkillFileName(nameOf(path))).map(folderOf));
  const skills = new Map<string, SkillTree>();
  const beside: string[] = [];
  for (const [path, file] of [...files].toSorted(([a], [b]) => compareCodePoints(a, b))) {
    const folder = ['.', ...foldersAbove(path)].slice(0, ROOT_DEPTH + 1).find((each) => holding.has(each));
    if (folder === undefined) {
      beside.push(path);
      continue;
    }
    const tree = skills.get(folder) ?? new Map();
    tree.set(folder === '.' ? path : path.slice(folder.length + 1), file);
    skills.set(folder, tree);
  }
  return { skills: [...skills].map(([folder, tree]) => ({ folder, tree })), beside };
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function folderOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '.';
}
