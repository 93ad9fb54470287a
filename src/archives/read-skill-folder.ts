import { join } from 'node:path';
import type { Diagnostic } from '../contracts/errors/diagnostic.ts';
import type { SkillTree } from '../contracts/skills/skill.ts';
import { skillFolderAt } from '../skills/load/find-skill-folders.ts';
import { listSkillFiles } from '../skills/load/files/list-skill-files.ts';
import { readRegularFile } from '../skills/load/files/read-regular-file.ts';
import { ARCHIVE_LIMITS } from './checks/archive-limits.ts';
import { ArchiveRefusal } from './checks/archive-refused.ts';
import { isLeftOut } from './checks/left-out.ts';

/** The files of a skill folder. */
export interface SkillFolderFiles {
  tree: SkillTree;
  /** Links and other things that no skill has. */
  diagnostics: Diagnostic[];
}

/**
 * Reads the files that a loader sees in a skill folder, into memory. What is left out of archives is there, without its bytes.
 *
 * @param place absolute path of which no folder is a link
 * @returns undefined where it holds no SKILL.md
 * @throws ArchiveRefusal for a folder that cannot be listed, or is larger than what an archive unpacks to
 * @throws Error for what cannot be read
 */
export function readSkillFolder(place: string): SkillFolderFiles | undefined {
  const folder = skillFolderAt(place, '.');
  if (folder === undefined) return undefined;
  const { paths, diagnostics } = listSkillFiles(place, folder.listing, '');
  if (paths === undefined)
    throw new ArchiveRefusal(
      'archive.skill',
      (diagnostics.at(-1)?.message ?? 'it cannot be listed').replace(/\.$/, ''),
    );
  const tree: SkillTree = new Map();
  let left = ARCHIVE_LIMITS.unpackedBytes;
  for (const path of paths) {
    if (isLeftOut(path)) {
      tree.set(path, { bytes: Buffer.alloc(0), executable: false });
      continue;
    }
    const { content, bytes, executable } = readRegularFile(join(place, path), { keep: left, limit: Infinity });
    if (content === undefined)
      throw new ArchiveRefusal('archive.size', `over ${ARCHIVE_LIMITS.unpackedBytes} bytes unpacked`);
    left -= bytes;
    tree.set(path, { bytes: content, executable });
  }
  return { tree, diagnostics: [...folder.diagnostics, ...diagnostics] };
}
