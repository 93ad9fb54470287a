import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { EVAL_OUTPUT } from '../../../evals/write-eval-output.ts';
import type { CliIo } from '../../terminal/cli-io.ts';
import { usageError } from '../../terminal/usage-error.ts';
import { outputFolder } from './output-folder.ts';

/**
 * Checks the folder of an evaluation. The runs of two evaluations in one folder could not be told apart.
 *
 * @returns its absolute path; nothing is made yet
 * @throws SkillcellError `usage.invalid`
 */
export function evalFolder(value: string, io: CliIo): string {
  const folder = outputFolder(value, io, '--out');
  const isTaken = EVAL_OUTPUT.some((name) => lstatSync(join(folder, name), { throwIfNoEntry: false }) !== undefined);
  if (isTaken) throw takenFolder(value);
  return folder;
}

/** The error for a folder that already holds an evaluation. */
export function takenFolder(folder: string): SkillcellError {
  return usageError('--out', 'it must be a folder that holds no evaluation yet', folder, 'Name another folder.');
}
