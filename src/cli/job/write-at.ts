import { removeTorn } from '../../durable/durable-file.ts';
import { writeFailed } from '../../durable/write-failed.ts';
import { fileSystemFault } from '../../durable/file-system-fault.ts';
import { usageError } from '../terminal/usage-error.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { type NewPlace, takenPlace } from '../options/places/new-place.ts';

/**
 * Writes something new, after removing what earlier runs that were killed left beside its place.
 *
 * @param write false where something is there by now
 * @throws SkillcellError `usage.invalid`, `artifact.write-failed`
 */
export function writeAt(place: NewPlace, write: () => boolean): void {
  try {
    removeTorn(place.parent);
    if (!write()) throw takenPlace(place);
  } catch (error) {
    if (SkillcellError.isInstance(error)) throw error;
    // The folder is there, and yet takes no files: /proc, for one.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw usageError('--output', 'no file or folder can be made there', place.shown);
    throw fileSystemFault(error) ?? writeFailed('write what was asked for', place.shown, error);
  }
}
