import { listFolder, type FolderListing } from './list-folder.ts';
import { skillFileNames } from './skill-file-name.ts';

/** The most folders that are looked into, to say what was not searched. */
const COUNTED_FOLDERS = 20_000;
const NAMED = 10;

/**
 * Says how many SKILL.md lie below folders that aren't searched, and where the first of them are.
 *
 * @param root absolute path of the root
 * @param folders paths below the root
 * @returns the end of a sentence
 */
export function countSkillFiles(root: string, folders: readonly string[]): string {
  const pending = [...folders].reverse();
  const places: string[] = [];
  let count = 0;
  let unknown = false;
  for (let visited = 0; pending.length > 0; visited += 1) {
    const below = pending.pop() ?? '';
    const listing = visited < COUNTED_FOLDERS ? listed(`${root}/${below}`) : undefined;
    if (listing === undefined) {
      unknown = true;
      if (visited >= COUNTED_FOLDERS) break;
      continue;
    }
    const names = skillFileNames(listing.files);
    count += names.length;
    for (const name of names) if (places.length < NAMED) places.push(`${below}/${name}`);
    pending.push(...listing.folders.toReversed().map((name) => `${below}/${name}`));
  }
  const atLeast = unknown ? 'at least ' : '';
  if (count === 0) return unknown ? 'whether a SKILL.md lies there is not known' : 'no SKILL.md lies there';
  const more = count > places.length ? ` and ${count - places.length} more` : '';
  return `${atLeast}${count} SKILL.md ${count === 1 ? 'lies' : 'lie'} there: ${places.join(', ')}${more}`;
}

function listed(path: string): FolderListing | undefined {
  try {
    return listFolder(path);
  } catch {
    // Out of reach, or its path is too long; the count says "at least".
    return undefined;
  }
}
