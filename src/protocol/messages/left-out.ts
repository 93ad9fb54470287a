import type { JobResult, OmittedFile } from '../../contracts/jobs/result.ts';
import { printablePath } from '../files/shown-path.ts';

/** The row for all omitted files without a row of their own. */
const UNNAMED = '…';

/**
 * Finds the omitted row that may stand for a path: its own row, a row of a parent folder, or the row `…`. The content of an omitted folder
 * and the files behind `…` are unknown.
 */
export function leftOut(result: Pick<JobResult, 'omitted'>, path: string): OmittedFile | undefined {
  return rowOf(result, path) ?? result.omitted.find((row) => row.path === UNNAMED);
}

/** The row of a path, or of a folder that contains it. */
export function rowOf({ omitted }: Pick<JobResult, 'omitted'>, path: string): OmittedFile | undefined {
  const shown = printablePath(path);
  const holds = (row: OmittedFile): boolean => row.path === '.' || shown.startsWith(`${row.path}/`);
  return omitted.find((row) => row.path === shown) ?? omitted.find(holds);
}
