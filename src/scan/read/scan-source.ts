import type { SkillTree } from '../../contracts/skills/skill.ts';
import type { Unscanned } from '../scan-tree.ts';
import type { FoundInFile } from '../scan-finding.ts';

/** The files that were read of one skill, or of one folder outside of skills. */
export interface ScanSource {
  /** Path below the scanned folder, `.` for the folder itself. */
  folder: string;
  /** Whether the folder is a skill. Links are checked only in skills, because other files may link to unscanned places. */
  isSkill: boolean;
  tree: SkillTree;
  /** Files and folders that were not read. */
  unread: Unscanned[];
  /** Findings about entries that are not files, by path. */
  found: { path: string; found: FoundInFile }[];
}
