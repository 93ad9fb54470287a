import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { SkillTree } from '../../contracts/skills/skill.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { makeFolders } from '../../durable/make-folders.ts';
import { removeTree } from '../../durable/remove-tree.ts';
import { writeNewFile as writeWhole } from '../../durable/write-new-file.ts';
import { writeTree } from '../../durable/write-tree.ts';

/**
 * Writes new folders, either all of them completely or none. It never overwrites.
 *
 * @param parent absolute path; created if it does not exist
 * @param trees files by names of folders
 * @throws SkillcellError `usage.invalid` if one of the names is taken. After any error, nothing is written
 */
export function writeNewFolders(parent: string, trees: readonly (readonly [string, SkillTree])[]): void {
  const names = trees.map(([name]) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw refusal('two skills would have the same folder', twice);
  for (const [name] of trees) refuseThere(parent, name);
  makeFolders(parent);
  const written: string[] = [];
  try {
    for (const [name, tree] of trees) {
      if (!writeTree(parent, name, tree, 'plain')) throw thereAlready(name);
      written.push(name);
    }
  } catch (error) {
    // Either all folders stay, or none.
    for (const name of written) removeTree(join(parent, name));
    throw error;
  }
}

/** Writes one new file completely or not at all. It never overwrites. */
export function writeNewFile(parent: string, name: string, text: string): void {
  makeFolders(parent);
  if (!writeWhole(join(parent, name), text)) throw thereAlready(name);
}

function refuseThere(parent: string, name: string): void {
  if (lstatSync(join(parent, name), { throwIfNoEntry: false }) !== undefined) throw thereAlready(name);
}

function thereAlready(name: string): SkillcellError {
  return refusal('the name is already taken', name);
}

function refusal(reason: string, name: string): SkillcellError {
  const hint = 'Choose another folder, or remove the existing one.';
  return new SkillcellError('usage.invalid', `Cannot write skills: ${reason}, got ${JSON.stringify(name)}.`, { hint });
}
