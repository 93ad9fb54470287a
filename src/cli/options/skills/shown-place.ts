import { dirname, isAbsolute, join, relative } from 'node:path';
import type { CliIo } from '../../terminal/cli-io.ts';
import { escapeLine } from '../../terminal/escape-controls.ts';

/**
 * The folder of a skill as shown to the user: relative to the working folder if it lies below it, else absolute. Places in a lock file are
 * relative to the folder of the lock file.
 */
export function shownPlace(place: string, lockFile: string, { cwd }: Pick<CliIo, 'cwd'>): string {
  const path = join(dirname(lockFile), place);
  const below = relative(cwd(), path) || '.';
  const isElsewhere = below === '..' || below.startsWith('../') || isAbsolute(below);
  return escapeLine(isElsewhere ? path : below);
}
