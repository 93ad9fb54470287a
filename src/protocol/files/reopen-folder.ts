import { chmodSync, lstatSync } from 'node:fs';

/**
 * Gives a folder that user code owns the permissions back that user code may have taken from it. To be called as the
 * owner, when no process of user code is left that could put something else in its place.
 */
export function reopenFolder(path: string | Buffer): void {
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (status?.isDirectory() === true && (status.mode & 0o700) !== 0o700) chmodSync(path, 0o755);
}
