/** Writes a SKILL.md with these frontmatter lines and this body. */
export function skillText(name: string, body: string, ...lines: string[]): string {
  return ['---', `name: ${name}`, `description: ${name} does things.`, ...lines, '---', body].join('\n');
}
