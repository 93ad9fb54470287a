import { realpathSync } from 'node:fs';
import { quotedText } from '../../../contracts/text/quoted-text.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { basename, dirname, join } from 'node:path';

/** A lock file with what stands beside it while skills are changed. */
export interface LockPlaces {
  /** Absolute path of the lock file, links resolved. */
  file: string;
  /** The folder that places of skills are below. */
  folder: string;
  /** Says who changes skills. */
  busy: string;
  /** Holds a change that is not done yet. */
  staging: string;
  /** Where the folders of a change wait: no reader of skills, of ours or others, looks into a folder of this name. */
  folders: string;
  /** Makes the change one that will be done, whoever does it. */
  journal: string;
}

/** The places of a lock file, whose folder has to be there. @throws SkillcellError `lock.invalid` for a link out of it */
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
 * Where a lock file really is. A link within its folder stays one, and what it leads to is written; one that leads elsewhere would have somebody
 * else's files read, and skills written beside them.
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
  throw new SkillcellError('lock.invalid', message, { hint: 'Name the file that is meant by --lock.' });
}
