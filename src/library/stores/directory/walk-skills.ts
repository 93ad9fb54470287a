import { hash } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { type Diagnostic, diagnostic } from '../../../contracts/errors/diagnostic.ts';
import { findSkillFolders, type SkillFolder } from '../../../skills/load/find-skill-folders.ts';
import { listSkillFiles } from '../../../skills/load/files/list-skill-files.ts';
import { SKILL_BYTES } from '../../../skills/load/read-manifest.ts';

/** A skill folder, as one walk found it. */
export interface FoundSkill {
  folder: SkillFolder;
  files: { path: string; bytes: number }[];
  /** Every change to a byte, mode or place of a file alters it, once the clock tick of the last change is over. */
  revision: string;
  /** Time of the last change to a file of it, in ms since 1970. */
  changedAt: number;
}

/** Result of one walk through a folder. */
export interface SkillWalk {
  skills: FoundSkill[];
  diagnostics: Diagnostic[];
  /** Equal where nothing has changed. */
  print: string;
}

/**
 * Examines every file of every skill below a folder, without reading any.
 *
 * @param root absolute path of an existing folder, links resolved
 * @throws Error when a file disappears before it is examined
 */
export function walkSkills(root: string): SkillWalk {
  const { folders, diagnostics } = findSkillFolders(root);
  const skills: FoundSkill[] = [];
  for (const folder of folders) {
    const place = folder.dir === '.' ? root : `${root}/${folder.dir}`;
    const looked = lookAtSkill(place, folder);
    diagnostics.push(...folder.diagnostics, ...looked.diagnostics);
    if (looked.skill !== undefined) skills.push(looked.skill);
  }
  const prints = skills.map(({ folder, revision }) => `${folder.dir}\0${folder.skillFile}\0${revision}\n`);
  return { skills, diagnostics, print: `${prints.join('')}${JSON.stringify(diagnostics)}` };
}

/**
 * Examines every file of one skill.
 *
 * @param place absolute path of its folder
 * @returns the skill, or the reason why it is unusable
 * @throws Error when a file disappears before it is examined
 */
export function lookAtSkill(place: string, folder: SkillFolder): { skill?: FoundSkill; diagnostics: Diagnostic[] } {
  const shown = folder.dir === '.' ? '' : `${folder.dir}/`;
  const { paths, diagnostics } = listSkillFiles(place, folder.listing, shown);
  if (paths === undefined) return { diagnostics };
  let identities = '';
  let total = 0;
  let changedAt = 0;
  const files = paths.map((path) => {
    const { ino, mode, size, ctimeMs } = lstatSync(`${place}/${path}`);
    // A number holds times to a quarter of a microsecond, far finer than a tick of the file system's clock.
    identities += `${path}\0${ino} ${mode} ${size} ${ctimeMs}\n`;
    total += size;
    if (ctimeMs > changedAt) changedAt = ctimeMs;
    return { path, bytes: size };
  });
  if (total > SKILL_BYTES) {
    const message = `The files of the skill have more than ${SKILL_BYTES} bytes together.`;
    return { diagnostics: [...diagnostics, diagnostic('skill.too-large', message, { path: shown })] };
  }
  return { skill: { folder, files, revision: hash('sha256', identities), changedAt }, diagnostics };
}
