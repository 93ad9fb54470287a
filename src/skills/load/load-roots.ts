import { realpathSync, statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { type Diagnostic, diagnostic } from '../../contracts/diagnostic.ts';
import type { RootKind, Skill, SkillRoot } from '../../contracts/skill.ts';
import { findSkillFolders } from './find-skill-folders.ts';
import { firstOfEachId } from './first-of-each-id.ts';
import { loadSkillFolder, type LoadingRoot } from './load-skill-folder.ts';
import { expectManyTexts } from '../parse/lazy-yaml.ts';
import { isBuiltinNamespace } from './publish-id.ts';
import { skillFilePath } from './skill-file-name.ts';
import { compareCodePoints } from '../text/text.ts';

/** What a descriptor lets roots publish. */
export interface PublishGrants {
  /** Full ids that other roots than the built-in one may publish as they claim. */
  overrides: readonly string[];
  /** Namespaces that the descriptor's own root may publish. */
  customNamespaces: readonly string[];
}

const PRECEDENCE: Readonly<Record<RootKind, number>> = { builtin: 0, user: 1, project: 2, custom: 3 };

/** The skills of some roots. */
export interface LoadedRoots {
  /** Sorted by full id; one skill an id. */
  skills: Skill[];
  /** Indexes of roots that are not there. */
  missing: number[];
  diagnostics: Diagnostic[];
}

/**
 * Loads every skill of some folders. Of one full id the skill of the higher root stays (builtin < user < project < custom;
 * of two roots of one kind the later one), in one root the first in path order.
 *
 * @param roots the folders; a project's is searched only when it is trusted
 * @param grants what roots other than the built-in one may publish besides `custom`
 * @returns the skills with everything that was found on the way
 */
export function loadRoots(roots: readonly SkillRoot[], grants: PublishGrants): LoadedRoots {
  const allowed = new Set(grants.overrides);
  const customNamespaces = new Set(grants.customNamespaces);
  const diagnostics: Diagnostic[] = [];
  const missing: number[] = [];
  const loaded = roots.map((root, index) => {
    const found = loadRoot(root, index, { overrides: allowed, customNamespaces });
    diagnostics.push(...found.diagnostics);
    if (found.missing === true) missing.push(index);
    return { rank: PRECEDENCE[root.kind], skills: found.skills };
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
  for (const id of allowed) {
    if (used.has(id) && isBuiltinNamespace(id.slice(0, id.indexOf('.')))) continue;
    const message = `No skill of a custom root claims ${JSON.stringify(id)}, which overrides lists.`;
    diagnostics.push(diagnostic('override.unused', message));
  }
  const sorted = [...chosen.values()].sort((a, b) => compareCodePoints(a.id, b.id));
  return { skills: sorted, missing, diagnostics };
}

/** From so many skills on, the quick build of the YAML package is worth its loading. */
const MANY = 500;

interface LoadedRoot {
  skills: Skill[];
  missing?: true;
  diagnostics: Diagnostic[];
}

function loadRoot(
  root: SkillRoot,
  index: number,
  grants: Pick<LoadingRoot, 'overrides' | 'customNamespaces'>,
): LoadedRoot {
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
  if (folders.length >= MANY) expectManyTexts();
  const skills: Skill[] = [];
  for (const folder of folders) {
    const { skill, diagnostics: found } = loadSkillFolder(loading, folder);
    diagnostics.push(...found);
    if (skill !== undefined) skills.push(skill);
  }
  const kept = firstOfEachId(skills);
  return { skills: kept.skills, diagnostics: [...diagnostics, ...kept.duplicates.values(), ...kept.copies] };
}

function existingFolder(path: string): string | undefined {
  try {
    const real = realpathSync.native(resolve(path));
    return statSync(real).isDirectory() ? real : undefined;
  } catch {
    // Missing or out of reach; the caller reports it.
    return undefined;
  }
}
