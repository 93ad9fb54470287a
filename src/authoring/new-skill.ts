import { makeFolders } from '../durable/make-folders.ts';
import { writeTree } from '../durable/write-tree.ts';
import { SKILL_FILE } from '../skills/load/files/skill-file-name.ts';
import { validateStrict } from '../skills/parse/strict-validate.ts';
import { folderId } from '../skills/text/slug.ts';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import { yamlText } from './yaml-text.ts';

/**
 * Begins a skill: a folder with a SKILL.md that is valid by the Agent Skills specification at once.
 *
 * @param into absolute path of the folder that gets it; made where it is not there
 * @param name of the skill and its folder
 * @throws SkillcellError `usage.invalid` for what is no name, or a folder that is there already
 */
export function newSkill(into: string, name: string): void {
  const bytes = Buffer.from(skillText(name));
  const [fault] = validateStrict(name, bytes, SKILL_FILE);
  if (fault !== undefined) {
    const { id } = folderId(name);
    const hint = id === '' ? undefined : `${JSON.stringify(id)} is a name.`;
    throw refusal((fault.message.split(', got ', 1)[0] ?? '').replace(/\.$/, ''), name, hint);
  }
  makeFolders(into);
  if (!writeTree(into, name, new Map([[SKILL_FILE, { bytes, executable: false }]]), 'plain'))
    throw refusal('there is something of this name already', name);
}

function refusal(what: string, name: string, hint?: string): SkillcellError {
  const message = `Cannot begin a skill: ${what}, got ${JSON.stringify(name)}.`;
  return new SkillcellError('usage.invalid', message, { hint: hint ?? 'Choose another name or another folder.' });
}

function skillText(name: string): string {
  return `---
name: ${yamlText(name)}
description: Says what the skill does, and when to use it. A model chooses by this sentence alone.
---

# ${name}

What to do, step by step. What is only needed at times goes into files beside this one, and is named here.
`;
}
