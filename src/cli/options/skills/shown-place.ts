import { dirname, isAbsolute, join, relative } from 'node:path';
import type { CliIo } from '../../terminal/cli-io.ts';
import { escapeLine } from '../../terminal/escape-controls.ts';

/**
 * The folder of a skill as the reader finds it from where the command was given: below that folder by its path from there, anywhere else by its
 * whole path. A lock file has places below its own folder.
 */
export function shownPlace(place: string, lockFile: string, { cwd }: Pick<CliIo, 'cwd'>): string {
  const path = join(dirname(lockFile), place);
  const below = relative(cwd(), path) || '.';
  const isElsewhere = below === '..' || below.startsWith('../') || isAbsolute(below);
  return escapeLine(isElsewhere ? path : below);
}
