import type { DescriptorSkill } from '../../contracts/skills/descriptor.ts';
import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { Skill, SkillTree, SkillTrees } from '../../contracts/skills/skill.ts';
import { displayName, readSkillParts } from './read-skill-parts.ts';
import { isBuiltinNamespace } from './publish-id.ts';
import { SKILL_FILE, skillFileNames } from './files/skill-file-name.ts';
import { compareCodePoints } from '../text/text.ts';

/**
 * Rebuilds skills from bytes that were verified. Ids, namespaces and the result of precedence come from the descriptor,
 * because the sandbox has neither the folders nor the roots.
 *
 * @param listed the skills of a portable descriptor
 * @param arrived their bytes
 * @returns the skills, sorted by full id
 */
export function loadArrived(
  listed: Readonly<Record<string, DescriptorSkill>>,
  arrived: SkillTrees,
): { skills: Skill[]; diagnostics: Diagnostic[] } {
  const skills: Skill[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const id of Object.keys(listed).sort(compareCodePoints)) {
    const entry = listed[id];
    const tree = arrived.get(id);
    if (entry === undefined || tree === undefined) continue;
    const rebuilt = rebuildSkill(id, entry, tree);
    diagnostics.push(...rebuilt.diagnostics);
    if (rebuilt.skill !== undefined) skills.push(rebuilt.skill);
  }
  return { skills, diagnostics };
}

function rebuildSkill(
  id: string,
  entry: DescriptorSkill,
  tree: SkillTree,
): { skill?: Skill; diagnostics: Diagnostic[] } {
  const dot = id.indexOf('.');
  const namespace = id.slice(0, dot);
  const skillId = id.slice(dot + 1);
  const dir = `${namespace}/${skillId}`;
  const { parts, diagnostics } = readSkillParts({
    folder: skillId,
    skillFile: skillFileNames([...tree.keys()])[0] ?? SKILL_FILE,
    shown: `${dir}/`,
    // The loading process has reported the patterns; a query compiles them when it comes.
    tryPatterns: false,
    bytesOf: (path) => tree.get(path)?.bytes,
  });
  // The name of the original folder is unknown here, so it cannot be compared with the name in the frontmatter.
  const found = diagnostics.filter(({ code }) => code !== 'skill.name-mismatch');
  if (parts === undefined) return { diagnostics: found };
  const skill: Skill = {
    ...parts,
    id,
    namespace,
    skillId,
    name: displayName(parts.fields, skillId),
    rootKind: isBuiltinNamespace(namespace) ? 'builtin' : 'custom',
    root: 0,
    rootPath: '',
    dir,
    files: entry.files.toSorted((a, b) => compareCodePoints(a.path, b.path)),
    digest: entry.digest,
    diagnostics: found,
  };
  return { skill, diagnostics: found };
}
