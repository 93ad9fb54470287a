import { loadSemver } from '../text/load-semver.ts';

/** What asks for some versions of a skill. */
export interface VersionDemand {
  /** Full id of the skill that is asked for. */
  id: string;
  range: string;
  /** Who asks: the full id of an importer, or `the request`. */
  by: string;
}

/** The range behind the `@` of a reference or an import; undefined where any version will do. */
export function rangeOf(reference: string): string | undefined {
  const at = reference.indexOf('@');
  return at < 0 ? undefined : reference.slice(at + 1).trim();
}

/**
 * Whether a version is in a range, by the rules of npm. `1` and `1.0` are `1.0.0`; what is no such version is in the range of its own text only.
 *
 * @param version as SKILL.md has it; a skill without one is in no range
 */
export function meetsRange(version: string | undefined, range: string): boolean {
  if (version === undefined) return false;
  const text = version.trim();
  if (text === range) return true;
  const { satisfies, valid, validRange } = loadSemver();
  const full = /^v?\d{1,15}(?:\.\d{1,15})?$/.test(text) ? `${text}${text.includes('.') ? '.0' : '.0.0'}` : text;
  const known = valid(full);
  return known !== null && range.length <= RANGE_LENGTH && validRange(range) !== null && satisfies(known, range);
}

const RANGE_LENGTH = 256;
