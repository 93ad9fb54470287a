import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Most attempts if another process keeps removing the new folders. */
const TRIES = 5;

/**
 * Creates a folder and its missing parents, one after the other. Node's recursive mkdir never ends in folders such as /proc, which answer each
 * mkdir with ENOENT.
 *
 * @param path absolute path
 * @throws the system's error
 */
export function makeFolders(path: string, mode = 0o777): void {
  for (let tries = 1; ; tries += 1) {
    try {
      makeMissing(path, mode);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || tries === TRIES) throw error;
    }
  }
}

function makeMissing(path: string, mode: number): void {
  const missing: string[] = [];
  for (let at = path; statSync(at, { throwIfNoEntry: false }) === undefined; at = dirname(at)) missing.push(at);
  if (missing.length === 0) makeOne(path, mode);
  for (const each of missing.toReversed()) makeOne(each, mode);
}

function makeOne(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    const isThere = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
    if (!isThere) throw error;
  }
}
