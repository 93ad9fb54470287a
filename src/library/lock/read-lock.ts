import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { SkillcellError } from '../../contracts/skillcell-error.ts';
import { parseLock, type SkillLock } from './lock-format.ts';

/**
 * Reads a lock file.
 *
 * @returns undefined where there is none
 * @throws SkillcellError `lock.invalid`
 */
export function readLock(path: string): SkillLock | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    const message = `Cannot read ${basename(path)}: the system refuses it, got ${code ?? 'an error'}.`;
    throw new SkillcellError('lock.invalid', message, { cause });
  }
  return parseLock(bytes, basename(path));
}
