import { join } from 'node:path';
import type { SkillFile, SkillTree } from '../../contracts/skills/skill.ts';
import { readRegularFile } from '../../skills/load/files/read-regular-file.ts';

/**
 * Reads listed files of a folder; a file that has grown is refused.
 *
 * @param folder absolute path without links
 * @throws Error where a file cannot be read
 */
export function readTree(folder: string, files: readonly SkillFile[]): SkillTree {
  const tree: SkillTree = new Map();
  for (const { path, bytes } of files) {
    const { content, executable } = readRegularFile(join(folder, path), { keep: bytes, limit: bytes });
    tree.set(path, { bytes: content ?? Buffer.alloc(0), executable });
  }
  return tree;
}
