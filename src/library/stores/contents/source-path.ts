import { posix } from 'node:path';
import { relativePathFault } from '../../../contracts/text/relative-path.ts';

/**
 * Resolves a path that a file of the source names, below a folder of it.
 *
 * @param base path of the folder, `.` for the source itself
 * @param path as written, with or without `./`
 * @returns the path below the source, `.` for the root; undefined where it leaves the source or is invalid
 */
export function pathInSource(base: string, path: string): string | undefined {
  if (path === '' || path.startsWith('/') || path.includes('\\')) return undefined;
  const whole = posix.normalize(`${base}/${path}`).replace(/\/$/, '');
  if (whole === '.') return whole;
  return relativePathFault(whole) === undefined ? whole : undefined;
}
