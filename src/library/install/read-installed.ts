import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { Skill, SkillTree } from '../../contracts/skill.ts';
import { loadStoreRoot } from '../../skills/load/load-store-root.ts';
import { readRegularFile } from '../../skills/load/read-regular-file.ts';
import type { LockedSkill } from '../lock/lock-format.ts';

/** What of a locked skill is in its folder: files that are gone are not in it, and a skill that does not load is none. */
export function readInstalled(root: string, locked: LockedSkill): { tree: SkillTree; skill: Skill | undefined } {
  const { place, files } = locked;
  const tree: SkillTree = new Map();
  if (place === null) return { tree, skill: undefined };
  let folder: string;
  try {
    folder = realpathSync.native(join(root, place));
  } catch {
    // The folder is gone.
    return { tree, skill: undefined };
  }
  for (const { path, bytes } of files) {
    try {
      const { content, executable } = readRegularFile(join(folder, path), { keep: bytes, limit: bytes });
      tree.set(path, { bytes: content ?? Buffer.alloc(0), executable });
    } catch {
      // Gone or grown: nothing of it is as it was locked.
    }
  }
  const dir = place.slice(place.lastIndexOf('/') + 1);
  const grants = { overrides: new Set<string>(), customNamespaces: new Set<string>() };
  const loaded = loadStoreRoot({ kind: 'project', name: root, skills: [{ dir, place: folder }] }, grants, 0);
  return { tree, skill: loaded.skills[0] };
}
