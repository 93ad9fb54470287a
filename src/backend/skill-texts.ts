import { decodeText } from '../skills/text/decode-text.ts';
import { oneLine } from '../skills/text/text.ts';
import { readFrontMatter } from '../skills/parse/front-matter.ts';
import type { ShelvedSkill } from './skill-shelf.ts';

/** SKILL.md as decoded text. */
export function skillText({ head }: ShelvedSkill): string {
  const decoded = decodeText(head.skillFile.bytes);
  return 'text' in decoded ? decoded.text : '';
}

/** The frontmatter of SKILL.md, below the path that loads the skill. */
export function frontMatterText(skill: ShelvedSkill): string {
  const read = readFrontMatter(skillText(skill), { recover: true });
  return `---\n# ${skill.path}\n${read.ok ? read.block.trimEnd() : ''}\n---`;
}

/** Skills below the names of their categories, one a line. No text of a skill begins a line. */
export function formattedSkills(skills: readonly ShelvedSkill[]): string {
  const parts: string[] = [];
  for (const category of new Set(skills.map((skill) => skill.category))) {
    const lines = skills
      .filter((skill) => skill.category === category)
      .map(({ path, parsed }) => `- **${path}**: ${oneLine(parsed.fields.description ?? '')}`);
    parts.push([...(category === '' ? [] : [`## ${category}`]), ...lines].join('\n'));
  }
  return parts.join('\n\n');
}
