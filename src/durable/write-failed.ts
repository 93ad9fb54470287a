import { SkillcellError } from '../contracts/errors/skillcell-error.ts';

/** The error of a failed write. `action` names the purpose: "keep the answer of the model". */
export function writeFailed(action: string, path: string, cause: unknown): SkillcellError {
  const code = (cause as NodeJS.ErrnoException).code ?? 'error';
  return new SkillcellError('artifact.write-failed', `Cannot ${action}: ${code}, got ${JSON.stringify(path)}.`, {
    cause,
  });
}
