import { quotedText } from '../contracts/text/quoted-text.ts';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';

/** Reasons why this user cannot use a path, by system code. Other codes are bugs of skillcell. */
const UNUSABLE: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  EEXIST: 'another entry exists there',
  ENOTDIR: 'its parent is not a folder',
  EISDIR: 'it is a folder',
  ELOOP: 'it has too many links',
  ENAMETOOLONG: 'the name is too long',
  EXDEV: 'source and target of a move are on different file systems',
};
const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);
/** SQLite reports a full disk only by number. */
const SQLITE_FULL = 13;

/** The temporary part of a path; callers do not know it. */
const TORN = /\/\.[^/]+\.part(?:\/.*)?$/s;

/**
 * Converts an error of the file system to `path.unusable` or `disk.full`. All such errors are converted here.
 *
 * @returns undefined for any other error
 */
export function fileSystemFault(error: unknown): SkillcellError | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code = '', path, syscall, errcode } = error as NodeJS.ErrnoException & { errcode?: number };
  const place = path === undefined ? 'no path' : quotedText(path.replace(TORN, '') || '/');
  if (FULL.has(code) || (code === 'ERR_SQLITE_ERROR' && errcode === SQLITE_FULL))
    return new SkillcellError('disk.full', `Cannot write: no space left (${code}), got ${place}.`, { cause: error });
  if (syscall === 'uv_cwd') {
    const reason = 'the working folder no longer exists, or permission was denied';
    return new SkillcellError('path.unusable', `Cannot use a path: ${reason} (${code}, ${syscall}), got ${place}.`, {
      cause: error,
    });
  }
  // An error of a started program is not about a path.
  if (path === undefined || syscall?.startsWith('spawn') === true) return undefined;
  const isNoParent = code === 'ENOENT' && (syscall === 'mkdir' || syscall === 'mkdtemp');
  const reason = isNoParent ? 'no folder can be created there' : UNUSABLE[code];
  if (reason === undefined) return undefined;
  return new SkillcellError('path.unusable', `Cannot use a path: ${reason} (${code}, ${syscall}), got ${place}.`, {
    cause: error,
  });
}

/** Adds the path to the error of a call that used a descriptor. */
export function atPlace(error: unknown, path: string): unknown {
  if (error instanceof Error && 'syscall' in error && !('path' in error)) Object.assign(error, { path });
  return error;
}
