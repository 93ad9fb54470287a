import { lstatSync, type Stats } from 'node:fs';
import { type Diagnostic, diagnostic } from '../../../contracts/errors/diagnostic.ts';
import { relativePathFault } from '../../../contracts/text/relative-path.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { type FolderListing, listFolder } from '../../../skills/load/files/list-folder.ts';
import type { SourceEntry } from '../contents/source-files.ts';

/** Equals the limit for a commit. A folder with more names is no source of skills, but probably a whole disk. */
const NAMES = 250_000;

/** A file, as last examined. */
export type ListedFile = SourceEntry & Pick<Stats, 'ino' | 'mode' | 'ctimeMs'>;

/** Every name below a folder, and the folders that cannot be read. */
export interface ListedSource {
  entries: SourceEntry[];
  /** Files by their paths. */
  files: ReadonlyMap<string, ListedFile>;
  /** Paths of folders that cannot be read. */
  closed: readonly string[];
  diagnostics: Diagnostic[];
}

/**
 * Lists everything below a folder, at any depth, without following links. `.git` and `node_modules` are skipped, as in every folder of skills.
 *
 * @param root absolute path of an existing folder, links resolved
 * @throws Error when a file disappears during the walk
 * @throws SkillcellError `source.refused` for too many names
 */
export function listSource(root: string, most: number = NAMES): ListedSource {
  const entries: SourceEntry[] = [];
  const files = new Map<string, ListedFile>();
  const closed: string[] = [];
  const diagnostics: Diagnostic[] = [];
  const take = (path: string, kind: SourceEntry['kind']): void => {
    entries.push({ path, kind, bytes: 0, executable: false });
  };
  const takeFile = (path: string): void => {
    const file = lookAtFile(root, path);
    if (file === undefined) return take(path, 'other');
    entries.push(file);
    files.set(path, file);
  };
  let names = 0;
  const pending = [''];
  for (let below = pending.pop(); below !== undefined; below = pending.pop()) {
    const listing = lookInto(`${root}/${below}`);
    if (typeof listing === 'string') {
      // An unreadable folder must not hide the others.
      const path = below.slice(0, -1);
      closed.push(path);
      diagnostics.push(diagnostic('skill.unreadable', `The folder cannot be searched: ${listing}.`, { path }));
      continue;
    }
    names += [listing.files, listing.folders, listing.links, listing.others].reduce(
      (sum, each) => sum + each.length,
      0,
    );
    for (const name of listing.links) take(below + name, 'link');
    for (const name of listing.others) take(below + name, 'other');
    for (const name of listing.files) takeFile(below + name);
    for (const name of listing.folders) {
      if (relativePathFault(below + name) === undefined) pending.push(`${below}${name}/`);
      else take(below + name, 'other');
    }
    if (names <= most) continue;
    throw new SkillcellError(
      'source.refused',
      `Cannot read the skills of ${root}: there are more than ${most} names.`,
      {
        hint: 'Name a folder in it.',
      },
    );
  }
  return { entries, files, closed, diagnostics };
}

/**
 * Examines one file.
 *
 * @returns undefined where it is no longer a file, or its name is unusable
 * @throws Error when it does not exist
 */
export function lookAtFile(root: string, path: string): ListedFile | undefined {
  if (relativePathFault(path) !== undefined) return undefined;
  const stats = lstatSync(`${root}/${path}`);
  if (!stats.isFile()) return undefined;
  const { ino, mode, ctimeMs, size } = stats;
  return { path, kind: 'file', bytes: size, executable: (mode & 0o111) !== 0, ino, mode, ctimeMs };
}

/** The listing of a folder, or the reason why it cannot be read. */
function lookInto(folder: string): FolderListing | string {
  try {
    return listFolder(folder);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') throw error;
    return message;
  }
}
