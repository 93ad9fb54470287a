import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { Skill, SkillFile, SkillTree } from '../../../contracts/skills/skill.ts';
import { readRegularFile } from '../../../skills/load/files/read-regular-file.ts';
import type { TreeCache } from '../../stores/cache/tree-cache.ts';
import type { LockedSkill } from '../../lock/format/lock-format.ts';
import { loadInstalled } from './load-installed.ts';

/** The available parts of a locked skill. */
export interface InstalledTree {
  /** As they are locked. */
  files: readonly SkillFile[];
  /** Without files that are gone or have grown. */
  tree: SkillTree;
  /** Undefined where it does not load. */
  skill: Skill | undefined;
}

/** Reads a locked skill: from the cache, else from its folder, which may have local changes. */
export function readInstalled(root: string, locked: LockedSkill, cache: TreeCache): InstalledTree {
  const { place, files, digest, origin } = locked;
  const tree: SkillTree = new Map();
  const folder = cache.find(digest)?.folder ?? (place === null ? undefined : realFolder(join(root, place)));
  if (folder === undefined) return { files, tree, skill: undefined };
  for (const { path, bytes } of files) {
    try {
      const { content, executable } = readRegularFile(join(folder, path), { keep: bytes, limit: bytes });
      tree.set(path, { bytes: content ?? Buffer.alloc(0), executable });
    } catch {
      // Gone or grown: it differs from the locked file.
    }
  }
  return { files, tree, skill: loadInstalled(folder, place ?? origin.folder) };
}

function realFolder(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    // The folder is gone.
    return undefined;
  }
}
