import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { SkillTree } from '../../contracts/skills/skill.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { makeFolders } from '../../durable/make-folders.ts';
import { removeTree } from '../../durable/remove-tree.ts';
import { writeNewFile as writeWhole } from '../../durable/write-new-file.ts';
import { writeTree } from '../../durable/write-tree.ts';

/**
 * Writes folders that are there whole or not at all, and over nothing.
 *
 * @param parent absolute path; made where it is not there
 * @param trees files by names of folders
 * @throws SkillcellError `usage.invalid` where there is something of one of the names. Whatever is thrown, nothing is written
 */
export function writeNewFolders(parent: string, trees: readonly (readonly [string, SkillTree])[]): void {
  const names = trees.map(([name]) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw refusal('two of them would have one folder', twice);
  for (const [name] of trees) refuseThere(parent, name);
  makeFolders(parent);
  const written: string[] = [];
  try {
    for (const [name, tree] of trees) {
      if (!writeTree(parent, name, tree, 'plain')) throw thereAlready(name);
      written.push(name);
    }
  } catch (error) {
    // All of them, or none.
    for (const name of written) removeTree(join(parent, name));
    throw error;
  }
}

/** The same for one file. */
export function writeNewFile(parent: string, name: string, text: string): void {
  makeFolders(parent);
  if (!writeWhole(join(parent, name), text)) throw thereAlready(name);
}

function refuseThere(parent: string, name: string): void {
  if (lstatSync(join(parent, name), { throwIfNoEntry: false }) !== undefined) throw thereAlready(name);
}

function thereAlready(name: string): SkillcellError {
  return refusal('there is something of this name already', name);
}

function refusal(what: string, name: string): SkillcellError {
  const hint = 'Choose another folder, or remove what is there.';
  return new SkillcellError('usage.invalid', `Cannot write skills: ${what}, got ${JSON.stringify(name)}.`, { hint });
}
