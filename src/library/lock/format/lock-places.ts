import { realpathSync } from 'node:fs';
import { quotedText } from '../../../contracts/text/quoted-text.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { basename, dirname, join } from 'node:path';

/** A lock file, and the names beside it during a change of skills. */
export interface LockPlaces {
  /** Absolute path of the lock file, links resolved. */
  file: string;
  /** The folder that places of skills are relative to. */
  folder: string;
  /** Names the process that changes skills. */
  busy: string;
  /** Holds a change that is not complete yet. */
  staging: string;
  /** Holds the folders of a change. Readers of skills, including other programs, skip a folder of this name. */
  folders: string;
  /** Commits the change: from then on it will be completed, by this process or a later one. */
  journal: string;
}

/** The places of a lock file, whose folder must exist. @throws SkillcellError `lock.invalid` for a link out of it */
export function lockPlaces(path: string): LockPlaces {
  const file = lockFileAt(path);
  const folder = dirname(file);
  const staging = join(folder, `.${basename(file)}.staging`);
  return {
    file,
    folder,
    busy: join(folder, `.${basename(file)}.busy`),
    staging,
    folders: join(staging, 'node_modules'),
    journal: join(staging, 'journal.json'),
  };
}

/**
 * Resolves the path of a lock file. A link within its folder is followed, for writes, too. A link out of the folder is refused: it would expose
 * files of other owners, and write skills beside them.
 *
 * @throws SkillcellError `lock.invalid`
 */
export function lockFileAt(path: string): string {
  const folder = realpathSync.native(dirname(path));
  let file: string;
  try {
    file = realpathSync.native(path);
  } catch {
    // Not there yet.
    return join(folder, basename(path));
  }
  if (file.startsWith(folder === '/' ? folder : `${folder}/`)) return file;
  const message = `Cannot use the file of locked skills: it leads out of its folder, got ${quotedText(path)}.`;
  throw new SkillcellError('lock.invalid', message, { hint: 'Name its real path by --lock.' });
}
