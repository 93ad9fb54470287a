import { removeTorn } from '../../durable/durable-file.ts';
import { writeFailed } from '../../durable/write-failed.ts';
import { fileSystemFault } from '../../durable/file-system-fault.ts';
import { usageError } from '../terminal/usage-error.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { type NewPlace, takenPlace } from '../options/places/new-place.ts';

/**
 * Writes something new, after removing the leftovers of killed runs beside its place.
 *
 * @param write returns false if the place is taken by now
 * @throws SkillcellError `usage.invalid`, `artifact.write-failed`
 */
export function writeAt(place: NewPlace, write: () => boolean): void {
  try {
    removeTorn(place.parent);
    if (!write()) throw takenPlace(place);
  } catch (error) {
    if (SkillcellError.isInstance(error)) throw error;
    // The folder exists, but takes no files, such as /proc.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw usageError('--output', 'no file or folder can be made there', place.shown);
    throw fileSystemFault(error) ?? writeFailed('write the output', place.shown, error);
  }
}
