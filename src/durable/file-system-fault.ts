import { quotedText } from '../contracts/text/quoted-text.ts';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';

/** What this user cannot do there, by the system's codes. Others are faults of ours. */
const UNUSABLE: Readonly<Record<string, string>> = {
  EACCES: 'this user has no right to it',
  EPERM: 'this user has no right to it',
  EROFS: 'the file system is read-only',
  EEXIST: 'something else is there already',
  ENOTDIR: 'what it lies in is no folder',
  EISDIR: 'it is a folder',
  ELOOP: 'it leads through too many links',
  ENAMETOOLONG: 'the name is too long',
  EXDEV: 'it lies in another file system than what is moved there',
};
const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);
/** SQLite says only by number that the disk is full. */
const SQLITE_FULL = 13;

/** Names that are there only until what is written has its own. */
const TORN = /\/\.[^/]+\.part(?:\/.*)?$/s;

/**
 * What an error of the file system means to whoever named the place: a place that cannot be used, or a full disk. This is where all such errors
 * become ours.
 *
 * @returns undefined for what says nothing of the kind
 */
export function fileSystemFault(error: unknown): SkillcellError | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code = '', path, syscall, errcode } = error as NodeJS.ErrnoException & { errcode?: number };
  const place = path === undefined ? 'no path' : quotedText(path.replace(TORN, '') || '/');
  if (FULL.has(code) || (code === 'ERR_SQLITE_ERROR' && errcode === SQLITE_FULL))
    return new SkillcellError('disk.full', `Cannot write: there is no room (${code}), got ${place}.`, { cause: error });
  if (syscall === 'uv_cwd') {
    const reason = 'the working folder is not there any more, or this user has no right to it';
    return new SkillcellError('path.unusable', `Cannot use a place: ${reason} (${code}, ${syscall}), got ${place}.`, {
      cause: error,
    });
  }
  // What a program may not do is nothing about a place.
  if (path === undefined || syscall?.startsWith('spawn') === true) return undefined;
  const isNoParent = code === 'ENOENT' && (syscall === 'mkdir' || syscall === 'mkdtemp');
  const reason = isNoParent ? 'no folder can be made there' : UNUSABLE[code];
  if (reason === undefined) return undefined;
  return new SkillcellError('path.unusable', `Cannot use a place: ${reason} (${code}, ${syscall}), got ${place}.`, {
    cause: error,
  });
}

/** Says where, in an error of a call that knows its file by a number only. */
export function atPlace(error: unknown, path: string): unknown {
  if (error instanceof Error && 'syscall' in error && !('path' in error)) Object.assign(error, { path });
  return error;
}
