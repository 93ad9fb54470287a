import { chmodSync, lstatSync } from 'node:fs';

/**
 * Restores the permissions that user code may have removed from its own folder. Call it as the owner, after all processes of user
 * code have ended: they could replace the folder.
 */
export function reopenFolder(path: string | Buffer): void {
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (status?.isDirectory() === true && (status.mode & 0o700) !== 0o700) chmodSync(path, 0o755);
}
