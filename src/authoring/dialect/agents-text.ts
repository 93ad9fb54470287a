import type { Skill } from '../../contracts/skills/skill.ts';
import { compareCodePoints, oneLine } from '../../skills/text/text.ts';

/** An AGENTS.md that names skills beside it, for agents that read no skills by themselves. */
export function agentsText(skills: readonly Skill[]): string {
  const lines = skills
    .toSorted((a, b) => compareCodePoints(a.skillId, b.skillId))
    .map(
      ({ skillId, fields }) =>
        `- **${skillId}** (\`skills/${skillId}/SKILL.md\`): ${oneLine(fields.description ?? '')}`,
    );
  return `# Skills\n\nInstructions for certain tasks. Read the file of a skill before you do what it is for.\n\n${lines.join('\n')}\n`;
}
