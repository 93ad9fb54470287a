import { lstatSync, mkdtempSync, rmdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { CliIo } from '../../terminal/cli-io.ts';
import { usageError } from '../../terminal/usage-error.ts';

/**
 * Checks the folder of a flag before a job is run in vain: a folder that can be written to, or a new one in such a folder.
 *
 * @returns its absolute path; nothing stays there yet
 * @throws SkillcellError `usage.invalid`
 */
export function outputFolder(value: string, io: CliIo, flag = '--output'): string {
  const path = resolve(io.cwd(), value);
  if (value === '' || !takesFiles(path)) {
    throw usageError(flag, 'it must be a folder that this user can write to, or a new one in such a folder', value);
  }
  return path;
}

/** Whether a folder takes new files, or can be made so that it does. */
export function takesFiles(path: string): boolean {
  return isWritable(nearestExisting(path));
}

/** The path itself, or the closest one above it that is there. */
function nearestExisting(path: string): string {
  let nearest = path;
  while (!isThere(nearest)) nearest = dirname(nearest);
  return nearest;
}

function isThere(path: string): boolean {
  try {
    // A link that leads nowhere is there: no folder can be made in its place.
    return path === dirname(path) || lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // Out of reach, or no path of this system: then nothing can be written there.
    return true;
  }
}

function isWritable(path: string): boolean {
  try {
    // By trying it: permissions say nothing where no user makes files, as in /proc.
    rmdirSync(mkdtempSync(join(path, '.skillcell-')));
    return true;
  } catch {
    // The caller reports it.
    return false;
  }
}
