import { hash } from 'node:crypto';
import { join } from 'node:path';
import { readRegularFile } from '../../../skills/load/files/read-regular-file.ts';
import { findContents, type FindOptions } from '../contents/find-contents.ts';
import { joined } from '../contents/file-tree.ts';
import type { FoundSkill, SourceContents } from '../contents/source-contents.ts';
import type { SourceFiles } from '../contents/source-files.ts';
import { type ListedFile, listSource } from './list-source.ts';
import type { FolderWalk } from './steady-walk.ts';

/** A skill of a source, as one walk found it. */
export interface LookedAtSkill {
  found: FoundSkill;
  /** Every change to a byte, mode or place of a file alters it, once the clock tick of the last change is over. */
  revision: string;
  changedAt: number;
}

/** Result of one walk through a source. */
export interface SourceWalk extends FolderWalk {
  contents: SourceContents;
  skills: readonly LookedAtSkill[];
}

/**
 * Lists every name of a source. Only files that list skills are read.
 *
 * @param root absolute path of an existing folder, links resolved
 * @throws Error when a file disappears before it is examined
 * @throws SkillcellError `source.refused`
 */
export async function walkSource(root: string, find: FindOptions): Promise<SourceWalk> {
  const { entries, files, closed, diagnostics } = listSource(root);
  const found = await findContents({ entries, read: readerIn(root) }, find);
  const contents: SourceContents = {
    ...found,
    // A skill with an unreadable folder is left out.
    skills: found.skills.filter(({ folder }) => !closed.some((path) => isBelow(path, folder))),
    diagnostics: [...diagnostics, ...found.diagnostics],
  };
  const skills = contents.skills.map((skill): LookedAtSkill => {
    const looked = skill.files.map(({ path }) => files.get(joined(skill.folder, path)));
    const changedAt = looked.reduce((latest, file) => Math.max(latest, file?.ctimeMs ?? 0), 0);
    return { found: skill, revision: revisionOf(looked), changedAt };
  });
  return { contents, skills, print: JSON.stringify([contents, skills.map(({ revision }) => revision)]) };
}

/** Reads files below a folder. */
export function readerIn(root: string): SourceFiles['read'] {
  return async (path, limit) => readRegularFile(join(root, path), { keep: limit, limit }).content ?? Buffer.alloc(0);
}

/** The revision of a skill, from its files in path order. */
export function revisionOf(files: readonly (ListedFile | undefined)[]): string {
  const identities = files.map((file) =>
    file === undefined ? 'gone' : [file.path, file.ino, file.mode, file.bytes, file.ctimeMs].join('\0'),
  );
  return hash('sha256', identities.join('\n'));
}

function isBelow(path: string, folder: string): boolean {
  return folder === '.' || path.startsWith(`${folder}/`);
}
