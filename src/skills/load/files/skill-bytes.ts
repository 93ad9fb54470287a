import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { Skill, SkillFile, SkillTree } from '../../../contracts/skills/skill.ts';
import { readRegularFile } from './read-regular-file.ts';

/**
 * Gives the folder of a skill on disk.
 *
 * @param skill a skill that was loaded from disk
 * @returns its absolute path
 */
export function skillFolderOf(skill: Pick<Skill, 'rootPath' | 'dir' | 'folder'>): string {
  return skill.folder ?? join(skill.rootPath, skill.dir);
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

/** A skill with more bytes than this is read anew by every job. */
const KEPT_BYTES = 1024 * 1024;

/** A file as it was read, and what of its inode tells that it is still the same. */
interface KeptFile {
  identity: string;
  file: { bytes: Uint8Array; executable: boolean };
}

/** What earlier jobs read of a skill, by path. */
const kept = new WeakMap<Skill, Map<string, KeptFile>>();

/**
 * Reads the files of a skill from disk, but for those that have not changed since they were read last. A file that can't be read any more is not there: whoever compares the tree
 * with the digests seen at load finds it missing.
 *
 * @param skill a skill that was loaded from disk
 * @returns bytes and modes as they are now, by path
 */
export function readSkillTree(skill: Skill): SkillTree {
  const tree: SkillTree = new Map();
  const earlier = kept.get(skill);
  const now = new Map<string, KeptFile>();
  for (const file of skill.files) {
    try {
      const identity = identityOf(join(skillFolderOf(skill), file.path));
      let known = earlier?.get(file.path);
      if (known?.identity !== identity) {
        const { bytes, executable } = readListedFile(skill, file);
        known = { identity, file: { bytes, executable } };
      }
      now.set(file.path, known);
      tree.set(file.path, known.file);
    } catch {
      // Gone, grown or swapped for a link: verification reports `descriptor.file-missing` with the path.
    }
  }
  if (skill.files.reduce((sum, { bytes }) => sum + bytes, 0) <= KEPT_BYTES) kept.set(skill, now);
  return tree;
}

/** What no change of a file's bytes, mode or place leaves as it is. */
function identityOf(path: string): string {
  const { dev, ino, mode, size, mtimeNs, ctimeNs } = lstatSync(path, { bigint: true });
  return [dev, ino, mode, size, mtimeNs, ctimeNs].join(' ');
}
