import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SkillView } from '../../contracts/store.ts';
import { readFrontMatter } from '../../skills/parse/front-matter.ts';
import { yaml } from '../../skills/parse/lazy-yaml.ts';
import { SKILL_FILE } from '../../skills/load/skill-file-name.ts';
import { canonicalJson } from '../../skills/text/canonical-json.ts';
import { decodeText } from '../../skills/text/decode-text.ts';

/** The frontmatter of an entry, as it would stand in a SKILL.md without a body. */
export function frontmatterText(frontmatter: object): Uint8Array {
  const block = yaml().stringify(frontmatter, { lineWidth: 0, aliasDuplicateObjects: false });
  return Buffer.from(`---\n${block}---\n`);
}

/** Whether the SKILL.md of a skill that is kept has the frontmatter that is listed. One that is written oddly may say no. */
export function hasFrontmatter({ folder }: SkillView, frontmatter: object): boolean {
  const decoded = decodeText(readFileSync(join(folder, SKILL_FILE)));
  if ('fault' in decoded) return false;
  const read = readFrontMatter(decoded.text, { recover: false });
  return read.ok && canonicalJson(read.root.toJSON()) === canonicalJson(frontmatter);
}
