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
  /** Links and other entries that a skill cannot have. */
  diagnostics: Diagnostic[];
}

/**
 * Reads the files of a skill folder into memory, as a loader sees them. Files that archives leave out are listed without their bytes.
 *
 * @param place absolute path without links
 * @returns undefined if the folder holds no SKILL.md
 * @throws ArchiveRefusal if the folder cannot be listed or exceeds the unpacked size of an archive
 * @throws Error if a file cannot be read
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
