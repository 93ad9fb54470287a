import { removeTorn } from '../../durable/durable-file.ts';
import { writeFailed } from '../../orchestrator/write-failed.ts';
import { SkillcellError } from '../../contracts/skillcell-error.ts';
import { type NewPlace, takenPlace } from '../options/new-place.ts';

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
    throw writeFailed('write what was asked for', place.shown, error);
  }
}
