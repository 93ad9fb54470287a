import { type Diagnostic, diagnostic } from '../../contracts/errors/diagnostic.ts';
import { type FolderListing, listFolder } from './files/list-folder.ts';
import { linkDiagnostics } from './files/list-skill-files.ts';
import { skillFileNames } from './files/skill-file-name.ts';

/** The most folders that are visited to count the SKILL.md files outside of the search. */
const COUNTED_FOLDERS = 20_000;
const NAMED = 10;

/** Folders deeper than this below a root aren't searched; the root has depth 0. */
export const ROOT_DEPTH = 6;
/** The most folders of a root that are searched. */
export const ROOT_FOLDERS = 5_000;

/** A folder that holds SKILL.md. */
export interface SkillFolder {
  /** Path below the root, `.` for the root itself. */
  dir: string;
  /** `SKILL.md` or another spelling of it. */
  skillFile: string;
  listing: FolderListing;
  /** Absolute path of the folder, where it lies apart from the root. */
  place?: string;
  /** `skill.unreadable` for spellings of SKILL.md that are not regular files. */
  diagnostics: Diagnostic[];
}

/**
 * Searches a root for skill folders, in path order. A folder that holds SKILL.md is a leaf.
 *
 * @param root absolute path of an existing folder, links resolved
 * @returns the folders, and diagnostics for the parts that were not searched
 */
export function findSkillFolders(root: string): { folders: SkillFolder[]; diagnostics: Diagnostic[] } {
  const folders: SkillFolder[] = [];
  const diagnostics: Diagnostic[] = [];
  const tooDeep: string[] = [];
  const tooMany: string[] = [];
  let visited = 0;

  const visit = (below: string, depth: number): void => {
    let listing: FolderListing;
    try {
      listing = listFolder(`${root}/${below}`);
    } catch (cause) {
      // One unreadable folder must not hide the others.
      const message = `The folder cannot be searched: ${(cause as Error).message}.`;
      diagnostics.push(diagnostic('skill.unreadable', message, { path: below }));
      return;
    }
    const { skillFile, unreadable } = chooseSkillFile(listing, below);
    if (skillFile !== undefined) {
      folders.push({ dir: below === '' ? '.' : below.slice(0, -1), skillFile, listing, diagnostics: unreadable });
      return;
    }
    diagnostics.push(...unreadable, ...linkDiagnostics(listing, below));
    for (const name of listing.folders) {
      const path = `${below}${name}`;
      if (depth === ROOT_DEPTH) tooDeep.push(path);
      else if (visited === ROOT_FOLDERS) tooMany.push(path);
      else {
        visited += 1;
        visit(`${path}/`, depth + 1);
      }
    }
  };

  const report = (code: 'root.depth' | 'root.folders', message: string, paths: readonly string[]): void => {
    const [path] = paths;
    if (path === undefined) return;
    diagnostics.push(diagnostic(code, `${message}; ${countSkillFiles(root, paths)}.`, { path }));
  };

  visit('', 0);
  report('root.depth', `Folders below depth ${ROOT_DEPTH} are not searched`, tooDeep);
  report('root.folders', `Only the first ${ROOT_FOLDERS} folders are searched`, tooMany);
  return { folders, diagnostics };
}

/**
 * Returns one folder as a skill folder.
 *
 * @param place absolute path of the folder
 * @param dir its path below its root, for diagnostics
 * @returns undefined where it holds no SKILL.md
 * @throws Error when the folder can't be read
 */
export function skillFolderAt(place: string, dir: string): SkillFolder | undefined {
  const listing = listFolder(place);
  const { skillFile, unreadable } = chooseSkillFile(listing, dir === '.' ? '' : `${dir}/`);
  return skillFile === undefined ? undefined : { dir, skillFile, listing, place, diagnostics: unreadable };
}

/** The first spelling of SKILL.md that is a regular file, and diagnostics for those before it that are neither file nor link. */
function chooseSkillFile(
  { files, folders, others }: FolderListing,
  below: string,
): { skillFile: string | undefined; unreadable: Diagnostic[] } {
  const names = skillFileNames([...files, ...folders, ...others]);
  const first = names.findIndex((name) => files.includes(name));
  const unreadable = (first < 0 ? names : names.slice(0, first)).map((name) => {
    const kind = folders.includes(name) ? 'a folder' : 'a fifo, a socket or a device';
    return diagnostic('skill.unreadable', `${name} is ${kind}, no regular file; it is not read.`, {
      path: `${below}${name}`,
    });
  });
  return { skillFile: names[first], unreadable };
}

/**
 * Counts the SKILL.md files below folders that aren't searched, and names the first of them.
 *
 * @param root absolute path of the root
 * @param folders paths below the root
 * @returns the end of a sentence
 */
function countSkillFiles(root: string, folders: readonly string[]): string {
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
    // Unreadable, or its path is too long; the count then says "at least".
    return undefined;
  }
}
