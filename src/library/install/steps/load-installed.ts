import { realpathSync } from 'node:fs';
import { basename } from 'node:path';
import type { Skill } from '../../../contracts/skills/skill.ts';
import { loadStoreRoot } from '../../../skills/load/load-store-root.ts';

/**
 * Loads one skill from its folder.
 *
 * @param dir its last part names the skill; default: the folder itself
 * @returns undefined where the folder is gone, or does not load
 */
export function loadInstalled(folder: string, dir: string = folder): Skill | undefined {
  const grants = { overrides: new Set<string>(), customNamespaces: new Set<string>() };
  try {
    const skills = [{ dir: basename(dir), place: realpathSync.native(folder) }];
    return loadStoreRoot({ kind: 'project', name: folder, skills }, grants, 0).skills[0];
  } catch {
    // The folder is gone.
    return undefined;
  }
}
