import { basename } from 'node:path';
import type { RootKind } from '../../contracts/skills/skill.ts';
import { skillFolderAt } from './find-skill-folders.ts';
import { type LoadedRoot, loadFolders, type RootGrants } from './load-roots.ts';

/** The skills of a store. Each has a folder of its own, apart from its place in the source. */
export interface StoreRoot {
  kind: RootKind;
  /** Name of the store in diagnostics. */
  name: string;
  /** Path of each skill in the store, and absolute path of the local folder that holds it. */
  skills: readonly { dir: string; place: string }[];
}

/**
 * Loads the skills of a store as those of a root.
 *
 * @param index number of the root
 * @throws Error when a folder can't be read
 */
export function loadStoreRoot({ kind, name, skills }: StoreRoot, grants: RootGrants, index: number): LoadedRoot {
  const folders = skills.map(({ dir, place }) => skillFolderAt(place, dir)).filter((folder) => folder !== undefined);
  return loadFolders({ kind, index, path: name, name: basename(name), ...grants }, folders, []);
}
