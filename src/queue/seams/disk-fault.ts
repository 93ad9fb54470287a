import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';

/** The error of a service whose folder for the files of jobs is gone. */
export function stateLost(): SkillcellError {
  return new SkillcellError('service.unavailable', 'Cannot keep the files of jobs: their folder is gone.', {
    hint: 'Restore the state folder of the service, and start the service again.',
  });
}

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
