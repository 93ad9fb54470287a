import type { SkillFields } from '../../contracts/skills/skill.ts';
import type { TextPlace } from '../text/text-place.ts';

/** Places in a SKILL.md that later checks report. */
export interface FieldPlaces {
  /** Line on which the body begins. */
  bodyLine: number;
  /** Empty when the key isn't there. */
  namespace: Partial<TextPlace>;
  imports: Partial<TextPlace>;
}

const places = new WeakMap<SkillFields, FieldPlaces>();

/** Remembers the places of a skill's fields, as long as the fields live. */
export function keepPlaces(fields: SkillFields, found: FieldPlaces): void {
  places.set(fields, found);
}

/**
 * Returns the places of a skill's fields.
 *
 * @param fields the fields as they were read, not a copy
 * @returns undefined for fields that come from no file
 */
export function placesOf(fields: SkillFields): FieldPlaces | undefined {
  return places.get(fields);
}
