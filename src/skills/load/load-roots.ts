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

/** What a descriptor lets roots publish. */
export interface PublishGrants {
  /** Full ids that other roots than the built-in one may publish as they claim. */
  overrides: readonly string[];
  /** Namespaces that the descriptor's own root may publish. */
  customNamespaces: readonly string[];
  /** Says why a skill whose bytes were read may not be loaded; without it each may. */
  admit?: LoadingRoot['admit'];
}

const PRECEDENCE: Readonly<Record<RootKind, number>> = { builtin: 0, company: 1, user: 2, project: 3, custom: 4 };

/** The skill of a kind with a higher number stands in front. */
export function precedenceOf(kind: RootKind): number {
  return PRECEDENCE[kind];
}

/** Loads what comes from elsewhere than folders of skills. `index` is the number of its first root. */
export type LoadMoreRoots = (grants: RootGrants, index: number) => (LoadedRoot & { kind: RootKind })[];

/** What of a descriptor's grants a root is loaded with. */
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
 * Loads every skill of some folders. Of one full id the skill of the higher root stays (builtin < company < user < project < custom;
 * of two roots of one kind the later one), in one root the first in path order.
 *
 * @param roots the folders; a project's is searched only when it is trusted
 * @param grants what roots other than the built-in one may publish besides `custom`
 * @param loadMore what else is loaded; of one kind it counts as later roots
 * @returns the skills with everything that was found on the way
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
        const message = `${lower.id} of the ${lower.rootKind} root is replaced by that of the ${skill.rootKind} root.`;
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

/** From so many skills on, the quick build of the YAML package is worth its loading. */
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

/** Loads the skills of some folders as those of one root; of one id the first stays. */
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

/** The real path of a folder; undefined where there is none. */
export function existingFolder(path: string): string | undefined {
  try {
    const real = realpathSync.native(resolve(path));
    return statSync(real).isDirectory() ? real : undefined;
  } catch {
    // Missing or out of reach; the caller reports it.
    return undefined;
  }
}
