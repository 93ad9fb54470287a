import { realpathSync, statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { type Diagnostic, diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { RootKind, Skill, SkillRoot } from '../../contracts/skills/skill.ts';
import { findSkillFolders, type SkillFolder } from './find-skill-folders.ts';
import { firstOfEachId } from './first-of-each-id.ts';
import { loadSkillFolder, type LoadingRoot } from './load-skill-folder.ts';
import { expectManyTexts } from '../parse/yaml/lazy-yaml.ts';
import { isBuiltinNamespace } from './publish-id.ts';
import { skillFilePath } from './files/skill-file-name.ts';
import { compareCodePoints } from '../text/text.ts';

/** Rights that a descriptor grants to roots. */
export interface PublishGrants {
  /** Full ids that roots other than the built-in one may claim. */
  overrides: readonly string[];
  /** Namespaces that the descriptor's own root may publish. */
  customNamespaces: readonly string[];
  /** Returns a diagnostic when a skill whose bytes were read may not be loaded; without it all skills may. */
  admit?: LoadingRoot['admit'];
}

const PRECEDENCE: Readonly<Record<RootKind, number>> = { builtin: 0, company: 1, user: 2, project: 3, custom: 4 };

/** The skill of the kind with the higher number wins. */
export function precedenceOf(kind: RootKind): number {
  return PRECEDENCE[kind];
}

/** Loads skills from other places than folders. `index` is the number of its first root. */
export type LoadMoreRoots = (grants: RootGrants, index: number) => (LoadedRoot & { kind: RootKind })[];

/** The grants of a descriptor that apply to one root. */
export type RootGrants = Pick<LoadingRoot, 'overrides' | 'customNamespaces' | 'admit'>;

/** The skills of some roots. */
export interface LoadedRoots {
  /** Sorted by full id; one skill an id. */
  skills: Skill[];
  /** Indexes of roots that are not there. */
  missing: number[];
  diagnostics: Diagnostic[];
}

/**
 * Loads every skill of some folders. For each full id, the skill of the higher root wins (builtin < company < user <
 * project < custom; of two roots of one kind the later one). In one root, the first skill in path order wins.
 *
 * @param roots the folders; a project's is searched only when it is trusted
 * @param grants rights to publish namespaces besides `custom`, for roots other than the built-in one
 * @param loadMore loads further roots; within a kind they count as later roots
 * @returns the skills with all diagnostics
 */
export function loadRoots(
  roots: readonly SkillRoot[],
  grants: PublishGrants,
  loadMore: LoadMoreRoots = () => [],
): LoadedRoots {
  const given: RootGrants = {
    overrides: new Set(grants.overrides),
    customNamespaces: new Set(grants.customNamespaces),
    admit: grants.admit,
  };
  const diagnostics: Diagnostic[] = [];
  const missing: number[] = [];
  const found = roots.map((root, index) => {
    const one = loadRoot(root, index, given);
    if (one.missing === true) missing.push(index);
    return { ...one, kind: root.kind };
  });
  const loaded = [...found, ...loadMore(given, roots.length)].map((one) => {
    diagnostics.push(...one.diagnostics);
    return { rank: PRECEDENCE[one.kind], skills: one.skills };
  });
  const chosen = new Map<string, Skill>();
  for (const { skills } of loaded.toSorted((a, b) => a.rank - b.rank)) {
    for (const skill of skills) {
      const lower = chosen.get(skill.id);
      if (lower !== undefined) {
        const message = `${lower.id} of the ${lower.rootKind} root is replaced by the skill of the ${skill.rootKind} root.`;
        diagnostics.push(diagnostic('skill.shadowed', message, { path: skillFilePath(lower) }));
      }
      chosen.set(skill.id, skill);
    }
  }
  const used = new Set(loaded.flatMap(({ rank, skills }) => (rank === 0 ? [] : skills)).map((skill) => skill.id));
  for (const id of given.overrides) {
    if (used.has(id) && isBuiltinNamespace(id.slice(0, id.indexOf('.')))) continue;
    const message = `No skill of a custom root claims ${JSON.stringify(id)}, which overrides lists.`;
    diagnostics.push(diagnostic('override.unused', message));
  }
  const sorted = [...chosen.values()].sort((a, b) => compareCodePoints(a.id, b.id));
  return { skills: sorted, missing, diagnostics };
}

/** From this number of skills on, the quick build of the YAML package pays for its longer load. */
const MANY = 500;

/** The skills of one root. */
export interface LoadedRoot {
  skills: Skill[];
  missing?: true;
  diagnostics: Diagnostic[];
}

function loadRoot(root: SkillRoot, index: number, grants: RootGrants): LoadedRoot {
  if (root.kind === 'project' && root.trusted !== true) {
    const message = `The project's skills in ${root.path} are not searched; the project is not trusted.`;
    return { skills: [], diagnostics: [diagnostic('root.untrusted', message)] };
  }
  const path = existingFolder(root.path);
  if (path === undefined) {
    const message = `There is no folder ${root.path}.`;
    return { skills: [], missing: true, diagnostics: [diagnostic('root.missing', message)] };
  }
  const loading: LoadingRoot = { kind: root.kind, index, path, name: basename(resolve(root.path)), ...grants };
  const { folders, diagnostics } = findSkillFolders(path);
  return loadFolders(loading, folders, diagnostics);
}

/** Loads the skills of some folders as those of one root. For each id, the first skill wins. */
export function loadFolders(
  loading: LoadingRoot,
  folders: readonly SkillFolder[],
  diagnostics: Diagnostic[],
): LoadedRoot {
  if (folders.length >= MANY) expectManyTexts();
  const skills: Skill[] = [];
  for (const folder of folders) {
    const { skill, diagnostics: found } = loadSkillFolder(loading, folder);
    diagnostics.push(...found);
    const refusal = skill && loading.admit?.(skill);
    if (refusal) diagnostics.push(refusal);
    else if (skill) skills.push(skill);
  }
  const kept = firstOfEachId(skills);
  return { skills: kept.skills, diagnostics: [...diagnostics, ...kept.duplicates.values(), ...kept.copies] };
}

/** The real path of a folder; undefined if it does not exist. */
export function existingFolder(path: string): string | undefined {
  try {
    const real = realpathSync.native(resolve(path));
    return statSync(real).isDirectory() ? real : undefined;
  } catch {
    // Missing or unreadable; the caller reports it.
    return undefined;
  }
}
