import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSkillsSubsystem, type SkillsSubsystem } from '../src/skills/index.ts';

const BODY_BYTES = 10 * 1024;
const TOPICS = ['tables', 'charts', 'links', 'dates', 'units', 'maps', 'quotes', 'sums'];

/** Files of each generated skill, and its folder's name. */
export const SKILL_FILES = ['SKILL.md', 'tools.yaml', 'references/guide.md', 'scripts/check.py'] as const;

/** Writes skills of one folder each: 10 KiB of instructions and three more files. */
export async function writeSkills(root: string, count: number): Promise<void> {
  for (let number = 0; number < count; number += 1) {
    const folder = join(root, skillName(number));
    await mkdir(join(folder, 'references'), { recursive: true });
    await mkdir(join(folder, 'scripts'));
    const contents: Record<(typeof SKILL_FILES)[number], string> = {
      'SKILL.md': skillMarkdown(number),
      'tools.yaml': `tools:\n  - id: tool.${number}\n    role: check\n    why: "Checks the result of step ${number}."\n`,
      'references/guide.md': `# Guide ${number}\n\n${paragraphs(number, 2_000)}`,
      'scripts/check.py': `import sys\n\nprint("checked", ${number}, *sys.argv[1:])\n`,
    };
    for (const [path, text] of Object.entries(contents)) await writeFile(join(folder, path), text);
  }
}

/** Five generated skills, loaded. `remove` deletes their folder. */
export async function fiveSkills(): Promise<{ subsystem: SkillsSubsystem; ids: string[]; remove(): Promise<void> }> {
  const root = await mkdtemp(join(tmpdir(), 'bench-skills-'));
  await writeSkills(root, 5);
  const subsystem = loadSkillsSubsystem({ roots: [{ kind: 'custom', path: root }] });
  const ids = subsystem.skills.map(({ id }) => id);
  if (ids.length !== 5) throw new Error(`Cannot measure: not all skills were loaded, got ${ids.join(', ')}.`);
  return { subsystem, ids, remove: () => rm(root, { recursive: true, force: true }) };
}

function skillName(number: number): string {
  return `${TOPICS[number % TOPICS.length] ?? 'tables'}-${number}`;
}

function skillMarkdown(number: number): string {
  const topic = TOPICS[number % TOPICS.length] ?? 'tables';
  return `---
name: ${skillName(number)}
description: Prepares ${topic} for reports of kind ${number}. Use it when a report holds ${topic} that a reader compares.
license: MIT
metadata:
  author: bench
  version: "1.${number}"
triggers:
  keywords: [${topic}, report ${number}]
---

# Preparing ${topic}

${paragraphs(number, BODY_BYTES)}`;
}

/** Text of about `bytes` bytes, different for every number. */
function paragraphs(number: number, bytes: number): string {
  const lines: string[] = [];
  for (let size = 0, line = 0; size < bytes; line += 1) {
    const topic = TOPICS[(number + line) % TOPICS.length] ?? 'tables';
    const text = `${line + 1}. Look at the ${topic} of part ${number * 7 + line}, and write \`check(${line})\` beside each that differs.`;
    lines.push(text);
    size += text.length + 1;
  }
  return `${lines.join('\n')}\n`;
}
