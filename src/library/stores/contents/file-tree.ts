import { type Diagnostic, diagnostic } from '../../../contracts/errors/diagnostic.ts';
import { libraryDiagnostic } from '../../../contracts/errors/library-diagnostic.ts';
import { quotedText } from '../../../contracts/text/quoted-text.ts';
import { relativePathFault } from '../../../contracts/text/relative-path.ts';
import { listNames } from '../../../skills/text/list-names.ts';
import { compareCodePoints, removeHidden } from '../../../skills/text/text.ts';
import type { SourceEntry } from './source-files.ts';

/** A folder of a source. */
export interface SourceFolder {
  /** Path below the source, empty for the source itself. */
  path: string;
  files: Map<string, SourceEntry>;
  folders: Map<string, SourceFolder>;
  links: string[];
  submodules: string[];
  /** Names that are no file, folder, link or submodule. */
  others: string[];
  /** Names that are left out in every folder. */
  leftOut: Set<string>;
}

const NAMED = 10;

/** Sorts the names of a source into folders. Names that cannot be the path of a file are left out. */
export function buildFileTree(entries: readonly SourceEntry[]): { root: SourceFolder; diagnostics: Diagnostic[] } {
  const root = newFolder('');
  const folders = new Map<string, SourceFolder | null>([['', root]]);
  const unusable: [path: string, fault: string][] = [];
  /** Null where the folder, or one above it, is left out. */
  const folderAt = (path: string): SourceFolder | null => {
    const known = folders.get(path);
    if (known !== undefined) return known;
    const { above, name } = split(path);
    const parent = folderAt(above);
    if (parent !== null && isLeftOut(name)) parent.leftOut.add(name);
    const made = parent === null || isLeftOut(name) ? null : newFolder(path);
    if (made !== null) parent?.folders.set(name, made);
    folders.set(path, made);
    return made;
  };
  for (const entry of entries.toSorted((a, b) => compareCodePoints(a.path, b.path))) {
    const fault = relativePathFault(entry.path);
    const { above, name } = split(entry.path);
    const parent = fault === undefined ? folderAt(above) : null;
    if (fault !== undefined) unusable.push([entry.path, fault]);
    if (parent === null) continue;
    if (isLeftOut(name)) parent.leftOut.add(name);
    else if (entry.kind === 'link') parent.links.push(name);
    else if (entry.kind === 'submodule') parent.submodules.push(name);
    else if (entry.kind === 'other') parent.others.push(name);
    else if (parent.files.has(name)) unusable.push([entry.path, 'a second file of that name']);
    else parent.files.set(name, entry);
  }
  dropFilesThatAreFolders(folders, unusable);
  return { root, diagnostics: unusableDiagnostics(unusable) };
}

/** The folder at a path, `.` for the whole. */
export function folderIn(root: SourceFolder, path: string): SourceFolder | undefined {
  if (path === '.') return root;
  let folder: SourceFolder | undefined = root;
  for (const name of path.split('/')) folder = folder?.folders.get(name);
  return folder;
}

/** A folder and every folder below it, in path order. */
export function* foldersBelow(folder: SourceFolder): Generator<SourceFolder> {
  yield folder;
  for (const below of folder.folders.values()) yield* foldersBelow(below);
}

/** Reports the names in a folder that are neither files nor folders, one diagnostic a kind. */
export function oddNames({ path, links, submodules, others, leftOut }: SourceFolder): Diagnostic[] {
  const place = (names: readonly string[]): { path: string } => ({ path: joined(path, names[0] ?? '') });
  const found: Diagnostic[] = [];
  if (links.length > 0)
    found.push(diagnostic('skill.link', `Links are never followed: ${listNames(links, NAMED)}.`, place(links)));
  if (submodules.length > 0) {
    const message = `Submodules are not fetched: ${listNames(submodules, NAMED)}.`;
    found.push(libraryDiagnostic('source.submodule', message, place(submodules)));
  }
  if (others.length > 0) {
    const message = `Names that are neither file, folder nor link are left out: ${listNames(others, NAMED)}.`;
    found.push(libraryDiagnostic('source.left-out', message, place(others)));
  }
  if (leftOut.size > 0) {
    const names = [...leftOut];
    const message = `Folders of version control and package managers are left out: ${listNames(names, NAMED)}.`;
    found.push(libraryDiagnostic('source.left-out', message, place(names)));
  }
  return found;
}

/** The path of a folder, `.` for the source itself. */
export function folderPath({ path }: SourceFolder): string {
  return path === '' ? '.' : path;
}

/** The path of a name in a folder. */
export function joined(folder: string, name: string): string {
  return folder === '' || folder === '.' ? name : `${folder}/${name}`;
}

/** A folder `.git` would act on the host where the files are written. Some systems accept other spellings of it. */
function isLeftOut(name: string): boolean {
  const plain = removeHidden(name).toLowerCase();
  return plain === '.git' || plain === 'git~1' || name === 'node_modules';
}

function newFolder(path: string): SourceFolder {
  return { path, files: new Map(), folders: new Map(), links: [], submodules: [], others: [], leftOut: new Set() };
}

function split(path: string): { above: string; name: string } {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? { above: '', name: path } : { above: path.slice(0, slash), name: path.slice(slash + 1) };
}

/** A name cannot be both a file and a folder on disk. The folder stays. */
function dropFilesThatAreFolders(
  folders: ReadonlyMap<string, SourceFolder | null>,
  unusable: [path: string, fault: string][],
): void {
  for (const folder of folders.values()) {
    if (folder === null) continue;
    for (const name of folder.folders.keys()) {
      if (folder.files.delete(name)) unusable.push([joined(folder.path, name), 'a file that is a folder as well']);
    }
  }
}

function unusableDiagnostics(unusable: readonly [path: string, fault: string][]): Diagnostic[] {
  const [first] = unusable;
  if (first === undefined) return [];
  const named = listNames(unusable, NAMED, ([path, fault]) => `${quotedText(path)} (${fault})`);
  return [
    diagnostic('skill.path', `Names that cannot be the path of a file are left out: ${named}.`, { path: first[0] }),
  ];
}
