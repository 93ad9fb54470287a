import { realpathSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { makeFolders } from '../../../durable/make-folders.ts';
import { homeFolder } from '../../../durable/user-folders.ts';
import { LOCK_FILE } from '../../../library/lock/format/lock-format.ts';
import { placeFault } from '../../../library/lock/format/place-fault.ts';
import { usageError } from '../../terminal/usage-error.ts';
import { type CommandContext, flagValue } from '../flags/command.ts';

/** The lock file of a command, and the folder for its skills. */
export interface LockPlace {
  /** Absolute path of the lock file. */
  lockFile: string;
  /** The folder of skills, below that of the lock file; `.` for that folder itself. */
  into: string;
}

const SKILLS_FOLDER = '.agents/skills';

/**
 * Reads `--user`, `--lock` and `--into`.
 *
 * @throws SkillcellError `usage.invalid`
 */
export function lockPlace({ arguments: given, io }: Pick<CommandContext, 'arguments' | 'io'>): LockPlace {
  const [lock, into] = [flagValue(given, 'lock'), flagValue(given, 'into')];
  const user = given.flags.has('user');
  if (user && into !== undefined) throw usageError('--into', 'it cannot be combined with --user', into);
  if (user && lock !== undefined) throw usageError('--lock', 'it cannot be combined with --user', lock);
  if (lock === '') throw usageError('--lock', 'it must be a file', lock);
  if (user) return { lockFile: join(homeFolder(io.env), '.agents', LOCK_FILE), into: 'skills' };
  const folder = lock === undefined ? io.cwd() : dirname(resolve(io.cwd(), lock));
  const lockFile = lock === undefined ? join(folder, LOCK_FILE) : resolve(io.cwd(), lock);
  if (into === undefined) return { lockFile, into: SKILLS_FOLDER };
  if (into === '') throw usageError('--into', 'it must be a folder', into);
  const below = relative(realFolder(folder), realFolder(resolve(io.cwd(), into)))
    .split(sep)
    .join('/');
  const isOutside = below === '..' || below.startsWith('../');
  if (isOutside && lock === undefined) return { lockFile: join(resolve(io.cwd(), into), LOCK_FILE), into: '.' };
  const fault = below === '' ? undefined : placeFault(below);
  if (fault !== undefined) throw usageError('--into', `it must be a folder beside the lock file (${fault})`, into);
  return { lockFile, into: below === '' ? '.' : below };
}

/** Makes the folder of a lock file that is about to be written. */
export function makeLockFolder({ lockFile }: LockPlace): void {
  makeFolders(dirname(lockFile));
}

/** Resolves the links in the existing part of a path. */
function realFolder(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    // Created later.
    return dirname(path) === path ? path : join(realFolder(dirname(path)), path.slice(dirname(path).length));
  }
}
