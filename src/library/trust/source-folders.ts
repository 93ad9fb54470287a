import { lstatSync, realpathSync } from 'node:fs';
import { join } from 'node:path';

/** Kinds of places from which skills come when they are asked for. */
export const SOURCE_NAMES = ['builtin', 'user', 'project'] as const;

/** One of them. */
export type SourceName = (typeof SOURCE_NAMES)[number];

/** Where tools keep skills below a home or a project; of two with one id the later wins. */
const PLACES = ['.claude/skills', '.agents/skills', '.agent/skills'] as const;

/** A folder in which skills may be. */
export interface SourceFolder {
  source: 'user' | 'project';
  /** Path as it is named. */
  path: string;
  /** Where it really is; absent where there is none. */
  real?: string;
  /** Whether a project's folder lies elsewhere than in the project, by a link. */
  isOutside: boolean;
}

/** The folders of a home. */
function userFolders(home: string): SourceFolder[] {
  return PLACES.map((place) => ({ ...folderAt('user', join(home, place)), isOutside: false }));
}

/**
 * The folders of a project.
 *
 * @param project canonical path
 */
export function projectFolders(project: string): SourceFolder[] {
  return PLACES.map((place) => {
    const folder = folderAt('project', join(project, place));
    return { ...folder, isOutside: folder.real !== undefined && folder.real !== join(project, place) };
  });
}

/**
 * The folders of a home and of a project, lowest precedence first. In the home itself the folders of the project are those of the user.
 *
 * @param project canonical path
 */
export function sourceFolders(names: ReadonlySet<SourceName>, home: string, project: string): SourceFolder[] {
  const ofUser = names.has('user') ? userFolders(home) : [];
  const isHome = names.has('user') && realPath(home) === project;
  return [...ofUser, ...(names.has('project') && !isHome ? projectFolders(project) : [])];
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    // A home that is not there is no project.
    return undefined;
  }
}

function folderAt(source: 'user' | 'project', path: string): Omit<SourceFolder, 'isOutside'> {
  try {
    const real = realpathSync.native(path);
    if (lstatSync(real).isDirectory()) return { source, path, real };
  } catch {
    // Not there, or not to be reached: there is nothing to read.
  }
  return { source, path };
}
