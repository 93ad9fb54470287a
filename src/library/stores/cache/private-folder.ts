import { chmodSync, lstatSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { makeFolders } from '../../../durable/make-folders.ts';

/** Write permission for users other than the owner. */
const WRITABLE = 0o022;

/**
 * Ensures that a folder exists, belongs to this user, and is closed to all others.
 *
 * @returns its path, links resolved
 * @throws SkillcellError `store.unavailable` for a folder of another user, or with write permission for others
 */
export function privateFolder(path: string): string {
  makeFolders(path, 0o700);
  const real = realpathSync.native(path);
  const { uid, mode } = lstatSync(real);
  if (uid !== (process.getuid?.() ?? uid)) throw refused('it belongs to another user', path);
  if ((mode & WRITABLE) !== 0) throw refused('others may write it', path);
  if ((mode & 0o077) !== 0) chmodSync(real, 0o700);
  return real;
}

/** A folder of a cache, by the rules of {@link privateFolder} for both. */
export function privatePart(cacheFolder: string, part: string): string {
  return privateFolder(join(privateFolder(cacheFolder), part));
}

function refused(why: string, path: string): SkillcellError {
  const message = `Cannot use the cache: ${why}, got ${path}.`;
  const hint = 'Name another folder for the cache, or remove this one and let it be made anew.';
  return new SkillcellError('store.unavailable', message, { hint });
}
