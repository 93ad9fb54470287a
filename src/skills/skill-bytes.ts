import { join } from 'node:path';
import type { Skill, SkillFile, SkillTree } from '../contracts/skill.ts';
import { readRegularFile } from './read-regular-file.ts';

/**
 * Gives the folder of a skill on disk.
 *
 * @param skill a skill that was loaded from disk
 * @returns its absolute path
 */
export function skillFolderOf(skill: Pick<Skill, 'rootPath' | 'dir'>): string {
  return join(skill.rootPath, skill.dir);
}

/**
 * Reads one file of a skill from disk as the manifest knows it.
 *
 * @param skill a skill that was loaded from disk
 * @param file a file of its manifest
 * @returns bytes and mode as they are now
 * @throws Error when the file is gone, is no regular file any more, or has grown
 */
export function readListedFile(skill: Skill, file: SkillFile): { bytes: Buffer; executable: boolean; digest: string } {
  const read = readRegularFile(join(skillFolderOf(skill), file.path), { keep: file.bytes, limit: file.bytes });
  return { bytes: read.content ?? Buffer.alloc(0), executable: read.executable, digest: read.digest };
}

/**
 * Reads the files of a skill from disk once. A file that can't be read any more is not there: whoever compares the tree
 * with the digests seen at load finds it missing.
 *
 * @param skill a skill that was loaded from disk
 * @returns bytes and modes as they are now, by path
 */
export function readSkillTree(skill: Skill): SkillTree {
  const tree: SkillTree = new Map();
  for (const file of skill.files) {
    try {
      const { bytes, executable } = readListedFile(skill, file);
      tree.set(file.path, { bytes, executable });
    } catch {
      // Gone, grown or swapped for a link: verification reports `descriptor.file-missing` with the path.
    }
  }
  return tree;
}
