import type { SkillTree } from '../../contracts/skills/skill.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { skillFileNames, SKILL_FILE } from '../../skills/load/files/skill-file-name.ts';
import { FRONT_MATTER_LIMIT, readFrontMatter } from '../../skills/parse/front-matter.ts';
import { entriesOf } from '../../skills/parse/yaml/yaml-values.ts';
import { decodeText } from '../../skills/text/decode-text.ts';

/** The frontmatter of a SKILL.md by its keys, and the body below it. */
export interface SkillSource {
  nodes: Map<string, unknown>;
  body: string;
  /** All other files. */
  others: SkillTree;
}

/** Reads the SKILL.md among the files of a skill. @throws SkillcellError `skills.invalid` */
export function readSource(name: string, tree: SkillTree): SkillSource {
  const [skillFile = SKILL_FILE] = skillFileNames([...tree.keys()]);
  const decoded = decodeText(tree.get(skillFile)?.bytes ?? new Uint8Array());
  const read = 'fault' in decoded ? undefined : readFrontMatter(decoded.text, { recover: true, path: skillFile });
  if (read?.ok !== true) {
    const diagnostics = read?.diagnostics ?? [];
    const message = `Cannot read the skill ${JSON.stringify(name)}: ${diagnostics[0]?.message ?? 'its SKILL.md is no text.'}`;
    throw new SkillcellError('skills.invalid', message, { diagnostics });
  }
  const nodes = new Map((entriesOf(read.root) ?? []).map(({ key, node }) => [key, node]));
  const others = new Map([...tree].filter(([path]) => path !== skillFile));
  return { nodes, body: read.body, others };
}

/** Writes the files of a skill with another frontmatter. @throws SkillcellError `skills.invalid` if it is too large */
export function writeSource(name: string, lines: readonly string[], { body, others }: SkillSource): SkillTree {
  const block = lines.map((line) => `${line}\n`).join('');
  const bytes = Buffer.byteLength(block);
  if (bytes > FRONT_MATTER_LIMIT) {
    const message = `Cannot write the skill ${JSON.stringify(name)}: its frontmatter may have ${FRONT_MATTER_LIMIT} bytes and would have ${bytes}.`;
    throw new SkillcellError('skills.invalid', message);
  }
  return new Map([...others, [SKILL_FILE, { bytes: Buffer.from(`---\n${block}---\n${body}`), executable: false }]]);
}
