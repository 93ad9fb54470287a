import { lstatSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { CliIo } from '../../terminal/cli-io.ts';
import { usageError } from '../../terminal/usage-error.ts';
import { takesFiles } from './output-folder.ts';

/**
 * Checks the file of a flag before anything runs: it must be replaceable or new.
 *
 * @returns its absolute path; the check leaves nothing there
 * @throws SkillcellError `usage.invalid`
 */
export function outputFile(value: string, io: CliIo, flag: string): string {
  const path = resolve(io.cwd(), value);
  if (takesFiles(dirname(path)) && mayBeFile(path)) return path;
  throw usageError(flag, 'it must be a file, or a new one in a folder that this user can write to', value);
}

/** Links, pipes and devices are refused: they themselves would be replaced. */
function mayBeFile(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? true;
  } catch {
    // Not a valid name.
    return false;
  }
}
