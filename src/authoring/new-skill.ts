import { makeFolders } from '../durable/make-folders.ts';
import { writeTree } from '../durable/write-tree.ts';
import { SKILL_FILE } from '../skills/load/files/skill-file-name.ts';
import { validateStrict } from '../skills/parse/strict-validate.ts';
import { folderId } from '../skills/text/slug.ts';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import { yamlText } from './yaml-text.ts';

/**
 * Creates a skill: a folder with a SKILL.md that is valid by the Agent Skills specification.
 *
 * @param into absolute path of the parent folder; created if it does not exist
 * @param name of the skill and its folder
 * @throws SkillcellError `usage.invalid` for an invalid name, or a folder that exists already
 */
export function newSkill(into: string, name: string): void {
  const bytes = Buffer.from(skillText(name));
  const [fault] = validateStrict(name, bytes, SKILL_FILE);
  if (fault !== undefined) {
    const { id } = folderId(name);
    const hint = id === '' ? undefined : `A valid name is ${JSON.stringify(id)}.`;
    throw refusal((fault.message.split(', got ', 1)[0] ?? '').replace(/\.$/, ''), name, hint);
  }
  makeFolders(into);
  if (!writeTree(into, name, new Map([[SKILL_FILE, { bytes, executable: false }]]), 'plain'))
    throw refusal('the name is already taken', name);
}

function refusal(reason: string, name: string, hint?: string): SkillcellError {
  const message = `Cannot begin a skill: ${reason}, got ${JSON.stringify(name)}.`;
  return new SkillcellError('usage.invalid', message, { hint: hint ?? 'Choose another name or another folder.' });
}

function skillText(name: string): string {
  return `---
name: ${yamlText(name)}
description: The purpose of the skill, and when to use it. A model chooses by this sentence alone.
---

# ${name}

The steps of the task. Details that are seldom needed go into files beside this one, and are named here.
`;
}
