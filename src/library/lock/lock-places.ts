import { realpathSync } from 'node:fs';
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

/** The places of a lock file, whose folder has to be there. */
export function lockPlaces(path: string): LockPlaces {
  const file = resolved(path);
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

/** A link stays one: what it leads to is written. */
function resolved(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    // Not there yet.
    return join(realpathSync.native(dirname(path)), basename(path));
  }
}
