import { lstatSync, type Stats } from 'node:fs';
import { type Diagnostic, diagnostic } from '../../../contracts/errors/diagnostic.ts';
import { relativePathFault } from '../../../contracts/text/relative-path.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { type FolderListing, listFolder } from '../../../skills/load/files/list-folder.ts';
import type { SourceEntry } from '../contents/source-files.ts';

/** As many as a commit may have: what holds more is no source of skills, but the disk. */
const NAMES = 250_000;

/** A file as it was when it was looked at. */
export type ListedFile = SourceEntry & Pick<Stats, 'ino' | 'mode' | 'ctimeMs'>;

/** Every name below a folder, and what could not be looked into. */
export interface ListedSource {
  entries: SourceEntry[];
  /** Files by their paths. */
  files: ReadonlyMap<string, ListedFile>;
  /** Paths of folders that could not be looked into. */
  closed: readonly string[];
  diagnostics: Diagnostic[];
}

/**
 * Looks at everything below a folder, however deep, and follows no link. `.git` and `node_modules` are skipped, as in every folder of skills.
 *
 * @param root absolute path of an existing folder, links resolved
 * @throws Error when a file is gone before it is looked at
 * @throws SkillcellError `source.refused` for more names than a source has
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
      // One unreadable folder doesn't keep the others from being found.
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
    throw new SkillcellError('source.refused', `Cannot read skills: there are more than ${most} names, got ${root}.`, {
      hint: 'Name a folder in it.',
    });
  }
  return { entries, files, closed, diagnostics };
}

/**
 * Looks at one file.
 *
 * @returns undefined where it is none any more, or has a name that cannot be handed on
 * @throws Error when there is nothing
 */
export function lookAtFile(root: string, path: string): ListedFile | undefined {
  if (relativePathFault(path) !== undefined) return undefined;
  const stats = lstatSync(`${root}/${path}`);
  if (!stats.isFile()) return undefined;
  const { ino, mode, ctimeMs, size } = stats;
  return { path, kind: 'file', bytes: size, executable: (mode & 0o111) !== 0, ino, mode, ctimeMs };
}

/** What a folder holds, or why nobody may say. */
function lookInto(folder: string): FolderListing | string {
  try {
    return listFolder(folder);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') throw error;
    return message;
  }
}
