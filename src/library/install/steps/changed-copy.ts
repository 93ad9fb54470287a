import { realpathSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { isSkillFileName } from '../../../skills/load/files/skill-file-name.ts';
import { type Deviation, UNSEEN } from '../../lock/compare-locked.ts';
import { hashFile } from '../../../durable/hash-file.ts';
import type { LockedSkill } from '../../lock/format/lock-format.ts';
import { loadInstalled } from './load-installed.ts';

/**
 * Whether a folder with deviations is still a copy of the skill, with local changes. A lock file may come with a repository: its entry alone proves
 * nothing about the folder.
 *
 * @param root absolute path of the folder that places are relative to
 * @param rows all deviations
 */
export function isChangedCopy(
  root: string,
  { id, place, files }: Pick<LockedSkill, 'id' | 'place' | 'files'>,
  rows: readonly Deviation[],
): boolean {
  if (place === null || rows.some(isForeign)) return false;
  const folder = join(root, place);
  const skillFile = files.find(({ path }) => isSkillFileName(path));
  if (skillFile === undefined || !isRegular(skillFile.path, rows)) return false;
  return files.some(({ path, bytes, digest }) => digestAt(join(folder, path), bytes) === digest) || isNamed(folder, id);
}

/** A name that no skill holds, or files beyond the limit of the comparison. */
function isForeign({ path, state, reason }: Deviation): boolean {
  if (reason === UNSEEN) return true;
  return state === 'added' && (path.split('/').includes('.git') || isSkillFileName(basename(path)));
}

function isRegular(skillFile: string, rows: readonly Deviation[]): boolean {
  return !rows.some(({ path, state, reason }) => {
    if (path === '.') return true;
    return path === skillFile && (state === 'missing' || reason !== undefined);
  });
}

function digestAt(path: string, limit: number): string | undefined {
  try {
    return hashFile(path, limit).digest;
  } catch {
    // Gone, grown or not a file.
    return undefined;
  }
}

function isNamed(folder: string, id: string): boolean {
  return loadInstalled(folder)?.fields.name === id.slice(id.indexOf('.') + 1);
}

/** Whether the folder of a skill is its own source, or contains it: then there is no other copy. */
export function isOwnSource(root: string, { place, origin }: Pick<LockedSkill, 'place' | 'origin'>): boolean {
  if (place === null || origin.type !== 'directory') return false;
  const [folder, source] = [join(root, place), resolve(root, origin.source, origin.folder)].map(realPath);
  return `${source}/`.startsWith(`${folder}/`);
}

function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    // Not there.
    return path;
  }
}
