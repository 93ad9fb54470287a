import { basename } from 'node:path';
import { quotedText } from '../../../contracts/text/quoted-text.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { FileTooLarge, readRegularFile } from '../../../skills/load/files/read-regular-file.ts';
import { lockFileAt } from './lock-places.ts';

/**
 * Reads a lock file. It may come with a repository, so it must be a regular file inside its folder, and opening it never blocks.
 *
 * @param limit bytes
 * @returns undefined where there is no such file
 * @throws SkillcellError `lock.invalid`
 */
export function readLockBytes(path: string, limit: number): Buffer | undefined {
  const action = `read ${quotedText(basename(path))}`;
  try {
    return readRegularFile(lockFileAt(path), { keep: limit, limit }).content;
  } catch (cause) {
    if (SkillcellError.isInstance(cause)) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    if (cause instanceof FileTooLarge)
      throw invalid(`Cannot ${action}: it has more bytes than are read (${limit}), got ${cause.bytes}.`, cause);
    // Some special files cannot even be opened.
    if (code === undefined || code === 'ENXIO' || code === 'ELOOP')
      throw invalid(`Cannot ${action}: it must be a regular file, got ${quotedText(path)}.`, cause);
    throw invalid(`Cannot ${action}: the system refuses it, got ${code}.`, cause);
  }
}

function invalid(message: string, cause: unknown): SkillcellError {
  return new SkillcellError('lock.invalid', message, { cause });
}
