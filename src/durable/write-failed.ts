import { SkillcellError } from '../contracts/errors/skillcell-error.ts';

/** The error of a file that could not be written. `action` is what was to be done: "keep what the model wrote". */
export function writeFailed(action: string, path: string, cause: unknown): SkillcellError {
  const code = (cause as NodeJS.ErrnoException).code ?? 'error';
  return new SkillcellError('artifact.write-failed', `Cannot ${action}: ${code}, got ${JSON.stringify(path)}.`, {
    cause,
  });
}
