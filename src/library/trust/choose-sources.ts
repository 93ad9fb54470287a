import { realpathSync } from 'node:fs';
import { type Diagnostic, diagnostic } from '../../contracts/diagnostic.ts';
import { libraryDiagnostic } from '../../contracts/library-diagnostic.ts';
import type { SkillStore } from '../../contracts/store.ts';
import type { TreeCache } from '../../stores/cache/tree-cache.ts';
import { createDirectoryStore } from '../../stores/directory/directory-store.ts';
import type { StoreState } from '../look-at-store.ts';
import type { GateVerdict } from '../skill-library.ts';
import { configFolder, type Environment, homeFolder } from '../../durable/user-folders.ts';
import { projectDigest } from './project-digest.ts';
import { type SourceFolder, sourceFolders, type SourceName } from './source-folders.ts';
import { readTrust, trustFile } from './trust-file.ts';

/** Where skills are looked for. */
export interface SourceOptions {
  names: ReadonlySet<SourceName>;
  env: Environment;
  /** The folder of the project. */
  cwd: string;
  cache: TreeCache;
}

/** Stores of the folders that are read, and what decides on them. */
export interface ChosenSources {
  stores: SkillStore[];
  gate(states: readonly StoreState[]): GateVerdict;
  /** Every folder that may be read, with its store where it is. */
  folders: { folder: SourceFolder; store?: SkillStore }[];
}

/**
 * Chooses folders of skills of the user and of the project. Of a project that is not trusted nothing is opened; of one that is, all has to be as it
 * was looked at.
 */
export function chooseSources({ names, env, cwd, cache }: SourceOptions): ChosenSources {
  const project = realpathSync.native(cwd);
  const chosen = sourceFolders(names, homeFolder(env), project);
  const hasProject = chosen.some(({ source }) => source === 'project');
  const path = trustFile(configFolder(env));
  const isTrusted = hasProject && readTrust(path).projects.has(project);
  const folders = chosen.map((folder) => {
    const { real, source, isOutside } = folder;
    if (real === undefined || isOutside || (source === 'project' && !isTrusted)) return { folder };
    return { folder, store: createDirectoryStore({ path: real, kind: source, cache }) };
  });
  const projectStores = new Set(
    folders.flatMap(({ folder, store }) => (folder.source === 'project' && store ? [store] : [])),
  );

  const gate = (states: readonly StoreState[]): GateVerdict => {
    const diagnostics = folders.filter(({ store }) => store === undefined).flatMap(({ folder }) => unread(folder));
    if (!hasProject) return { closed: new Map(), diagnostics };
    const { projects, fault } = readTrust(path);
    if (fault !== undefined) {
      const message = `No project is trusted: ${fault}, got ${path}.`;
      diagnostics.unshift(libraryDiagnostic('trust.ignored', message));
    }
    const reason = distrust(
      projects.get(project)?.digest,
      project,
      states.filter(({ store }) => projectStores.has(store)),
    );
    const closed = new Map(reason === undefined ? [] : [...projectStores].map((store) => [store, reason]));
    return { closed, diagnostics };
  };
  return { stores: folders.flatMap(({ store }) => store ?? []), gate, folders };
}

/** Why the skills of a project do not count. */
function distrust(
  trusted: string | null | undefined,
  project: string,
  states: readonly StoreState[],
): Diagnostic | undefined {
  if (states.length === 0 || trusted === null) return undefined;
  if (trusted === undefined) {
    return diagnostic('root.untrusted', `The project's skills in ${project} are not read; the project is not trusted.`);
  }
  if (trusted === projectDigest(project, states)) return undefined;
  const message = `The project's skills in ${project} are not read; they have changed since the project was trusted.`;
  return libraryDiagnostic('trust.changed', message);
}

function unread({ source, path, real, isOutside }: SourceFolder): Diagnostic[] {
  if (source === 'user' || real === undefined) return [];
  if (isOutside) {
    return [
      libraryDiagnostic(
        'trust.outside',
        `The project's skills in ${path} are not read; the folder is a link to ${real}.`,
      ),
    ];
  }
  return [diagnostic('root.untrusted', `The project's skills in ${path} are not read; the project is not trusted.`)];
}
