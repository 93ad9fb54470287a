import type { Stats } from 'node:fs';

/** The kind of a special file; `undefined` for regular files and folders. */
export function specialKind(status: Stats): string | undefined {
  if (status.isFile() || status.isDirectory()) return undefined;
  if (status.isSymbolicLink()) return 'a symbolic link';
  if (status.isFIFO()) return 'a pipe';
  if (status.isSocket()) return 'a socket';
  return 'a device';
}
