import { loadSemver } from '../text/load-semver.ts';

/** A demand for versions of a skill. */
export interface VersionDemand {
  /** Full id of the skill that is asked for. */
  id: string;
  range: string;
  /** Source of the demand: the full id of an importer, or `the request`. */
  by: string;
}

/** The range behind the `@` of a reference or an import; undefined if any version is accepted. */
export function rangeOf(reference: string): string | undefined {
  const at = reference.indexOf('@');
  return at < 0 ? undefined : reference.slice(at + 1).trim();
}

/**
 * Tells whether a version is in a range, by the rules of npm. `1` and `1.0` count as `1.0.0`. Any other text that is not
 * such a version matches only a range with the same text.
 *
 * @param version as in SKILL.md; a skill without a version is in no range
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
