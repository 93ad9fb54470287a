import type { SkillStore } from '../../contracts/skills/store.ts';
import type { TreeCache } from '../stores/cache/tree-cache.ts';
import { createDirectoryStore } from '../stores/directory/directory-store.ts';
import { openHeadIndex } from '../heads/head-index.ts';
import { openKeptLists } from '../heads/kept-lists.ts';
import { lookAtStore, type StoreState } from '../heads/look-at-store.ts';
import { projectDigest } from './project-digest.ts';
import { projectFolders } from './source-folders.ts';

/** The skills of a project, for a decision about trust. */
export interface ProjectSkills {
  digest: string;
  /** Every folder with a SKILL.md, relative to the project. */
  skills: { path: string; digest: string }[];
}

/**
 * Looks at all skills of a project, without loading any.
 *
 * @param project canonical path
 * @param cache is closed at the end
 * @throws SkillcellError `store.unavailable`
 */
export async function lookAtProject(project: string, cache: TreeCache): Promise<ProjectSkills> {
  const folders = projectFolders(project).filter(({ isOutside }) => !isOutside);
  const stores = folders.flatMap(({ real }) =>
    real === undefined ? [] : [createDirectoryStore({ path: real, kind: 'project', cache })],
  );
  try {
    const states = await lookAtStores(stores, cache);
    const skills = states.flatMap(({ records }) =>
      records.map(({ item, digest = '' }) => {
        const folder = item.origin.source.slice(project.length + 1);
        return { path: item.path === '.' ? folder : `${folder}/${item.path}`, digest };
      }),
    );
    return { digest: projectDigest(project, states), skills };
  } finally {
    cache.close();
  }
}

/**
 * Looks at stores with every digest, as the judgement of a project needs them.
 *
 * @throws SkillcellError `store.unavailable`
 */
export async function lookAtStores(stores: Iterable<SkillStore>, cache: TreeCache): Promise<StoreState[]> {
  const look = {
    index: openHeadIndex(cache),
    lists: openKeptLists(cache),
    stale: 'refuse' as const,
    digests: true,
  };
  return await Promise.all(Array.from(stores, (store) => lookAtStore(store, undefined, look)));
}
