import { existsSync } from 'node:fs';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { lockPlaces } from '../../../library/lock/format/lock-places.ts';
import { quoted } from '../../terminal/usage-error.ts';
import type { CommandContext } from '../flags/command.ts';
import { lockPlace } from './lock-place.ts';

/** The lock file of a command, also if it is still being written. @throws SkillcellError `lock.invalid` if there is no such file */
export function existingLock(context: Pick<CommandContext, 'arguments' | 'io'>): string {
  const { lockFile } = lockPlace(context);
  if (isLocked(lockFile)) return lockFile;
  throw new SkillcellError(
    'lock.invalid',
    `Cannot read the lock file: there is no such file, got ${quoted(lockFile)}.`,
    {
      hint: '`skillcell skills add SOURCE` writes one; --lock names another.',
    },
  );
}

/** Whether there is a lock file, or one is being written. */
export function isLocked(lockFile: string): boolean {
  return existsSync(lockFile) || isBegun(lockFile);
}

function isBegun(lockFile: string): boolean {
  try {
    return existsSync(lockPlaces(lockFile).staging);
  } catch {
    // Its folder does not exist either.
    return false;
  }
}
