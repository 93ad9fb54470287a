import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { Diagnostic } from '../../contracts/errors/diagnostic.ts';
import type { SkillFile, SkillTree } from '../../contracts/skills/skill.ts';
import { quotedText } from '../../contracts/text/quoted-text.ts';
import { listFiles } from '../../library/stores/cache/tree-cache.ts';
import { SKILL_FILE, skillFileNames } from '../../skills/load/files/skill-file-name.ts';
import { skillOfParts } from '../../skills/load/load-skill-folder.ts';
import { readSkillParts } from '../../skills/load/read-skill-parts.ts';
import type { SkillSpec } from '../kinds/kind-object.ts';
import { NAME_SCHEMA } from '../kinds/kind-schemas.ts';
import { renderSkills } from '../../skills/render/render-skills.ts';
import { skillDigest } from '../../skills/text/digest.ts';

/** A skill as the registry stores it. */
export interface DescribedSkill {
  name: string;
  /** The id without its namespace. */
  slug: string;
  spec: SkillSpec;
  digest: string;
  files: SkillFile[];
  /** The body, ready for a prompt. */
  prompt: string;
  diagnostics: Diagnostic[];
}

/** Which skill is described, and for whom. */
export interface DescribeOptions {
  name: string;
  isPublic: boolean;
}

/**
 * Reads the files of one skill, as a library reads them.
 *
 * @throws SkillcellError `skills.invalid`
 */
export function describeSkill(tree: SkillTree, { name, isPublic }: DescribeOptions): DescribedSkill {
  if (!NAME_SCHEMA.safeParse(name).success) {
    throw new SkillcellError(
      'skills.invalid',
      `Cannot take the skill: its name must have 1 to 100 characters on one line, got ${quotedText(name)}.`,
      { hint: 'Give a `name`; without it, the name is that of its folder, or of the archive.' },
    );
  }
  const files = listFiles(tree);
  const digest = skillDigest(files);
  const [skillFile = SKILL_FILE] = skillFileNames([...tree.keys()]);
  const bytesOf = (path: string): Uint8Array | undefined => tree.get(path)?.bytes;
  const read = readSkillParts({ folder: name, skillFile, shown: '', tryPatterns: true, bytesOf });
  const { skill, diagnostics } = skillOfParts(
    {
      kind: isPublic ? 'builtin' : 'user',
      index: 0,
      path: '',
      name,
      overrides: new Set(),
      customNamespaces: new Set(),
    },
    { dir: '.', skillFile, place: undefined, files, digest, ...read },
  );
  if (skill === undefined) throw invalid(name, diagnostics);
  const wanted = isPublic ? 'public' : 'custom';
  if (skill.namespace !== wanted) {
    throw new SkillcellError(
      'skills.invalid',
      `Cannot take the skill ${quotedText(name)}: it claims the namespace ${skill.namespace} and would be ${wanted}.`,
      { hint: 'Remove `namespace` from its frontmatter.', diagnostics },
    );
  }
  const { name: _name, namespace: _namespace, ...spec } = skill.fields;
  const [body] = renderSkills([skill], 'full', []).bodies;
  return { name, slug: skill.skillId, spec, digest, files, prompt: body?.text ?? '', diagnostics };
}

function invalid(name: string, diagnostics: Diagnostic[]): SkillcellError {
  const reason = diagnostics.find(({ severity }) => severity === 'error')?.message ?? 'it cannot be read.';
  return new SkillcellError('skills.invalid', `Cannot take the skill ${quotedText(name)}: ${reason}`, { diagnostics });
}
