import { lstatSync, realpathSync } from 'node:fs';
import { join } from 'node:path';

/** Kinds of default sources of skills. */
export const SOURCE_NAMES = ['builtin', 'user', 'project'] as const;

/** A default source. */
export type SourceName = (typeof SOURCE_NAMES)[number];

/** Folders of skills below a home or a project. For skills with the same id, the later one wins. */
const PLACES = ['.claude/skills', '.agents/skills', '.agent/skills'] as const;

/** A folder that may hold skills. */
export interface SourceFolder {
  source: 'user' | 'project';
  /** Path as named. */
  path: string;
  /** Real path; absent where there is no folder. */
  real?: string;
  /** Whether a folder of a project is a link to another place. */
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
 * The folders of a home and of a project, lowest precedence first. In the home itself, the folders count only as those of the user.
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
    // A missing home is not the project.
    return undefined;
  }
}

function folderAt(source: 'user' | 'project', path: string): Omit<SourceFolder, 'isOutside'> {
  try {
    const real = realpathSync.native(path);
    if (lstatSync(real).isDirectory()) return { source, path, real };
  } catch {
    // Missing, or not accessible: there is nothing to read.
  }
  return { source, path };
}
