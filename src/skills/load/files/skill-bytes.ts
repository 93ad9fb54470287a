import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { Skill, SkillFile, SkillTree } from '../../../contracts/skills/skill.ts';
import { readRegularFile } from './read-regular-file.ts';

/**
 * Returns the folder of a skill on disk.
 *
 * @param skill a skill that was loaded from disk
 * @returns its absolute path
 */
export function skillFolderOf(skill: Pick<Skill, 'rootPath' | 'dir' | 'folder'>): string {
  return skill.folder ?? join(skill.rootPath, skill.dir);
}

/**
 * Reads one file of a skill from disk, with the size in the manifest as the limit.
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

/** The content of a larger skill is not kept: every job reads it again. */
const KEPT_BYTES = 1024 * 1024;

/** A read file, and the state of its inode that shows whether it changed. */
interface KeptFile {
  identity: string;
  file: { bytes: Uint8Array; executable: boolean };
}

/** Files that earlier jobs read, by skill and path. */
const kept = new WeakMap<Skill, Map<string, KeptFile>>();

/**
 * Reads the files of a skill from disk. Files that have not changed since the last call come from memory. Files that
 * cannot be read any more are left out: a comparison with the digests of the load reports them as missing.
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

/** Changes whenever the bytes, mode or place of a file change. */
function identityOf(path: string): string {
  const { dev, ino, mode, size, mtimeNs, ctimeNs } = lstatSync(path, { bigint: true });
  return [dev, ino, mode, size, mtimeNs, ctimeNs].join(' ');
}
