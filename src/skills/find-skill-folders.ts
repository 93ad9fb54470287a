import type { Diagnostic } from '../contracts/diagnostic.ts';
import { diagnostic } from './diagnostic-codes.ts';
import { listFolder, type FolderListing } from './list-folder.ts';
import { linkDiagnostics } from './list-skill-files.ts';
import { SKILL_FILE, SKILL_FILE_LOWER } from './skill-file-name.ts';

/** Folders deeper than this below a root aren't searched; the root has depth 0. */
export const ROOT_DEPTH = 6;
/** The most folders of a root that are searched. */
export const ROOT_FOLDERS = 5_000;

/** A folder that holds SKILL.md. */
export interface SkillFolder {
  /** Path below the root, `.` for the root itself. */
  dir: string;
  /** `SKILL.md` or `skill.md`. */
  skillFile: string;
  listing: FolderListing;
}

/**
 * Searches a root for skill folders, in path order. A folder that holds SKILL.md is a leaf.
 *
 * @param root absolute path of an existing folder, links resolved
 * @returns the folders, and what wasn't searched
 */
export function findSkillFolders(root: string): { folders: SkillFolder[]; diagnostics: Diagnostic[] } {
  const folders: SkillFolder[] = [];
  const diagnostics: Diagnostic[] = [];
  const reported = new Set<string>();
  let visited = 0;

  const reportOnce = (code: 'root.depth' | 'root.folders', message: string, path: string): void => {
    if (reported.has(code)) return;
    reported.add(code);
    diagnostics.push(diagnostic(code, message, { path }));
  };

  const visit = (below: string, depth: number): void => {
    let listing: FolderListing;
    try {
      listing = listFolder(`${root}/${below}`);
    } catch (cause) {
      // One unreadable folder doesn't keep the others from being found.
      const message = `The folder cannot be searched: ${(cause as Error).message}.`;
      diagnostics.push(diagnostic('skill.missing', message, { path: below }));
      return;
    }
    const skillFile = [SKILL_FILE, SKILL_FILE_LOWER].find((name) => listing.files.includes(name));
    if (skillFile !== undefined) {
      folders.push({ dir: below === '' ? '.' : below.slice(0, -1), skillFile, listing });
      return;
    }
    diagnostics.push(...linkDiagnostics(listing, below));
    for (const name of listing.folders) {
      const path = `${below}${name}`;
      if (depth === ROOT_DEPTH) {
        reportOnce('root.depth', `Folders below depth ${ROOT_DEPTH} are not searched.`, path);
      } else if (visited === ROOT_FOLDERS) {
        reportOnce('root.folders', `Only the first ${ROOT_FOLDERS} folders are searched.`, path);
      } else {
        visited += 1;
        visit(`${path}/`, depth + 1);
      }
    }
  };

  visit('', 0);
  return { folders, diagnostics };
}
