import { lstatSync, mkdtempSync, rmdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { CliIo } from '../../terminal/cli-io.ts';
import { usageError } from '../../terminal/usage-error.ts';

/**
 * Checks the folder of a flag before a job runs: it must be writable, or new in a writable folder.
 *
 * @returns its absolute path; the check leaves nothing there
 * @throws SkillcellError `usage.invalid`
 */
export function outputFolder(value: string, io: CliIo, flag = '--output'): string {
  const path = resolve(io.cwd(), value);
  if (value === '' || !takesFiles(path)) {
    throw usageError(flag, 'it must be a folder that this user can write to, or a new one in such a folder', value);
  }
  return path;
}

/** Whether a folder is writable, or can be created. */
export function takesFiles(path: string): boolean {
  return isWritable(nearestExisting(path));
}

/** The path itself, or its nearest existing parent. */
function nearestExisting(path: string): string {
  let nearest = path;
  while (!isThere(nearest)) nearest = dirname(nearest);
  return nearest;
}

function isThere(path: string): boolean {
  try {
    // A dangling link exists: no folder can be made in its place.
    return path === dirname(path) || lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // Unreachable, or no valid path: nothing can be written there.
    return true;
  }
}

function isWritable(path: string): boolean {
  try {
    // Permissions say nothing about places such as /proc, so a write is tried.
    rmdirSync(mkdtempSync(join(path, '.skillcell-')));
    return true;
  } catch {
    // The caller reports it.
    return false;
  }
}
