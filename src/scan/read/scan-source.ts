import type { SkillTree } from '../../contracts/skills/skill.ts';
import type { Unscanned } from '../scan-tree.ts';
import type { FoundInFile } from '../scan-finding.ts';

/** The files of one skill, or of one folder outside of any, as they were read. */
export interface ScanSource {
  /** Path below what is scanned, `.` for the whole. */
  folder: string;
  /** Whether a skill lies there; links of other files lead where nobody looked. */
  isSkill: boolean;
  tree: SkillTree;
  /** What was not read. */
  unread: Unscanned[];
  /** Findings about what is no file, by path. */
  found: { path: string; found: FoundInFile }[];
}
