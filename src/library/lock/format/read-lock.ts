import { basename } from 'node:path';
import { LOCK_BYTES, parseLock, type SkillLock } from './lock-format.ts';
import { readLockBytes } from './read-lock-bytes.ts';

/**
 * Reads a lock file.
 *
 * @returns undefined where there is no such file
 * @throws SkillcellError `lock.invalid`
 */
export function readLock(path: string): SkillLock | undefined {
  const bytes = readLockBytes(path, LOCK_BYTES);
  return bytes === undefined ? undefined : parseLock(bytes, basename(path));
}
