import type { Stats } from 'node:fs';

/** What an entry is that is neither a regular file nor a folder; `undefined` for those two. */
export function specialKind(status: Stats): string | undefined {
  if (status.isFile() || status.isDirectory()) return undefined;
  if (status.isSymbolicLink()) return 'a symbolic link';
  if (status.isFIFO()) return 'a pipe';
  if (status.isSocket()) return 'a socket';
  return 'a device';
}
