import type { JobResult, OmittedFile } from '../../contracts/jobs/result.ts';
import { printablePath } from '../files/shown-path.ts';

/** The row that stands for all that has none of its own. */
const UNNAMED = '…';

/**
 * Finds what was left out of the artifacts and may be a path, or hold it: of a folder that was left out nobody knows what lies in it, and of what has
 * no row of its own nobody knows what it is.
 */
export function leftOut(result: Pick<JobResult, 'omitted'>, path: string): OmittedFile | undefined {
  return rowOf(result, path) ?? result.omitted.find((row) => row.path === UNNAMED);
}

/** The row of a path, or of a folder that holds it. */
export function rowOf({ omitted }: Pick<JobResult, 'omitted'>, path: string): OmittedFile | undefined {
  const shown = printablePath(path);
  const holds = (row: OmittedFile): boolean => row.path === '.' || shown.startsWith(`${row.path}/`);
  return omitted.find((row) => row.path === shown) ?? omitted.find(holds);
}
