import { realpathSync } from 'node:fs';
import { type Diagnostic, diagnostic } from '../../contracts/errors/diagnostic.ts';
import { libraryDiagnostic } from '../../contracts/errors/library-diagnostic.ts';
import type { SkillStore } from '../../contracts/skills/store.ts';
import type { TreeCache } from '../stores/cache/tree-cache.ts';
import { createDirectoryStore } from '../stores/directory/directory-store.ts';
import type { StoreState } from '../heads/look-at-store.ts';
import type { GateVerdict } from '../snapshot/skill-library.ts';
import { configFolder, type Environment, homeFolder } from '../../durable/user-folders.ts';
import { type ChosenFolder, type JudgedFolder, judgeSources } from './judge-sources.ts';
import { sourceFolders, type SourceName } from './source-folders.ts';
import { readTrust, trustFile, type TrustReading } from './trust-file.ts';

/** Options of {@link chooseSources}. */
export interface SourceOptions {
  names: ReadonlySet<SourceName>;
  env: Environment;
  /** The folder of the project. */
  cwd: string;
  cache: TreeCache;
}

/** Stores of the chosen folders, and the decision about them. */
export interface ChosenSources {
  /** Real path. */
  project: string;
  stores: SkillStore[];
  /** Stores of the project; empty where it is not trusted. */
  projectStores: ReadonlySet<SkillStore>;
  /** The present trust, and the folders that are read by it. */
  judge(states: readonly StoreState[]): { trust: TrustReading; folders: JudgedFolder[] };
  gate(states: readonly StoreState[]): GateVerdict;
}

/**
 * Chooses folders of skills of the user and of the project. Folders of an untrusted project are not opened. A trusted project must be unchanged
 * since its review.
 */
export function chooseSources({ names, env, cwd, cache }: SourceOptions): ChosenSources {
  const project = realpathSync.native(cwd);
  const all = sourceFolders(names, homeFolder(env), project);
  const hasProject = all.some(({ source }) => source === 'project');
  const path = trustFile(configFolder(env));
  const readNow = (): TrustReading => (hasProject ? readTrust(path) : { projects: new Map() });
  const isTrusted = readNow().projects.has(project);
  const chosen = all.map((folder): ChosenFolder => {
    const { real, source, isOutside } = folder;
    if (real === undefined || isOutside || (source === 'project' && !isTrusted)) return { folder };
    return { folder, store: createDirectoryStore({ path: real, kind: source, cache }) };
  });
  const projectStores = new Set(
    chosen.flatMap(({ folder, store }) => (folder.source === 'project' && store ? [store] : [])),
  );

  const judge: ChosenSources['judge'] = (states) => {
    const trust = readNow();
    return { trust, folders: judgeSources(chosen, project, trust, states) };
  };

  const gate = (states: readonly StoreState[]): GateVerdict => {
    const { trust, folders } = judge(states);
    const diagnostics = folders.filter(({ store }) => store === undefined).flatMap((folder) => unread(folder));
    if (trust.fault !== undefined) {
      const message = `No project is trusted: ${trust.fault}, got ${path}.`;
      diagnostics.unshift(libraryDiagnostic('trust.ignored', message));
    }
    const reason = closedBy(folders, project);
    return {
      closed: new Map(reason === undefined ? [] : [...projectStores].map((store) => [store, reason])),
      diagnostics,
    };
  };
  return { project, stores: chosen.flatMap(({ store }) => store ?? []), projectStores, judge, gate };
}

/** The reason why the stores of a project are closed; it is the same for all of them. */
function closedBy(folders: readonly JudgedFolder[], project: string): Diagnostic | undefined {
  const notRead = folders.find(({ folder, store }) => folder.source === 'project' && store !== undefined)?.notRead;
  if (notRead === undefined) return undefined;
  const skills = `The project's skills in ${project} are not read`;
  return notRead === 'changed'
    ? libraryDiagnostic('trust.changed', `${skills}; they have changed since the project was trusted.`)
    : diagnostic('root.untrusted', `${skills}; the project is not trusted.`);
}

function unread({ folder: { path, source, real = '' }, notRead }: JudgedFolder): Diagnostic[] {
  if (source === 'user' || notRead === 'missing') return [];
  const skills = `The project's skills in ${path} are not read`;
  return notRead === 'outside'
    ? [libraryDiagnostic('trust.outside', `${skills}; the folder is a link to ${real}.`)]
    : [diagnostic('root.untrusted', `${skills}; the project is not trusted.`)];
}
