import type { Skill } from '../../contracts/skills/skill.ts';
import { compareCodePoints, oneLine } from '../../skills/text/text.ts';

/** Writes an AGENTS.md that lists the skills beside it, for agents without support for skills. */
export function agentsText(skills: readonly Skill[]): string {
  const lines = skills
    .toSorted((a, b) => compareCodePoints(a.skillId, b.skillId))
    .map(
      ({ skillId, fields }) =>
        `- **${skillId}** (\`skills/${skillId}/SKILL.md\`): ${oneLine(fields.description ?? '')}`,
    );
  return `# Skills\n\nInstructions for certain tasks. Read the file of a skill before you do its task.\n\n${lines.join('\n')}\n`;
}
