import { lstatSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { CliIo } from '../../terminal/cli-io.ts';
import { usageError } from '../../terminal/usage-error.ts';
import { takesFiles } from './output-folder.ts';

/**
 * Checks the file of a flag before anything is run in vain: one that can be replaced, or a new one.
 *
 * @returns its absolute path; nothing stays there yet
 * @throws SkillcellError `usage.invalid`
 */
export function outputFile(value: string, io: CliIo, flag: string): string {
  const path = resolve(io.cwd(), value);
  if (takesFiles(dirname(path)) && mayBeFile(path)) return path;
  throw usageError(flag, 'it must be a file, or a new one in a folder that this user can write to', value);
}

/** A link, a pipe or a device would itself be replaced. */
function mayBeFile(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? true;
  } catch {
    // No name that this system takes.
    return false;
  }
}
