import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { readManifest } from '../../skills/load/read-manifest.ts';
import { readTree } from '../lock/read-tree.ts';
import { computedHash, installedName, readSkillsLock, SKILLS_LOCK_FILE } from '../lock/format/skills-lock.ts';

/** One skill of `skills-lock.json`, compared with its folder. */
export interface VerifiedEntry {
  name: string;
  /** Path of its folder, relative to that file. */
  place: string;
  state: 'same' | 'changed' | 'missing' | 'not-compared';
  /** The fault, or the reason for `not-compared`. */
  reason?: string;
}

/**
 * Compares the skills of a `skills-lock.json` with their folders. The file has one hash for each skill, so changed files cannot be named.
 *
 * @param lockFile path of the lock file in the same folder
 * @param locked places of this lock file: its digests take precedence, as an update by it leaves the other file outdated
 * @returns undefined where there is no such file
 * @throws SkillcellError `lock.invalid`
 */
export function verifySkillsLock(
  lockFile: string,
  locked: ReadonlySet<string> = new Set(),
): VerifiedEntry[] | undefined {
  const entries = readSkillsLock(join(dirname(lockFile), SKILLS_LOCK_FILE));
  return entries?.map(({ name, computedHash: expected }) => {
    const place = `.agents/skills/${installedName(name)}`;
    if (locked.has(place))
      return { name, place, state: 'not-compared', reason: `${basename(lockFile)} has this folder` };
    const folder = join(dirname(lockFile), place);
    if (lstatSync(folder, { throwIfNoEntry: false }) === undefined)
      return { name, place, state: 'missing', reason: 'there is no such folder' };
    const got = hashOf(folder);
    return got === expected
      ? { name, place, state: 'same' }
      : { name, place, state: 'changed', reason: `expected ${expected}, got ${got}` };
  });
}

function hashOf(folder: string): string {
  try {
    const real = realpathSync.native(folder);
    const { files, diagnostics } = readManifest(real);
    if (files === undefined) return diagnostics.map(({ message }) => message).join(' ');
    return computedHash(readTree(real, files));
  } catch (error) {
    return (error as Error).message;
  }
}
