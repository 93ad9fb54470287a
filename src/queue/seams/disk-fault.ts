import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';

/** The error of a write, without the path. */
export function diskFault(error: unknown): unknown {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return error;
  const hint = 'Free space on the disk of the service, or wait until jobs are removed, and try again.';
  return new SkillcellError('disk.full', `Cannot keep the files: the disk is full (${code}).`, {
    cause: error,
    hint,
  });
}
