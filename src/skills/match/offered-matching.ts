import type { matchSkills } from './triggers.ts';

let offered: typeof matchSkills | undefined;

/**
 * Takes the matcher that chooses skills by their triggers. The host's loaders offer it. A sandbox matches no queries, so
 * its bundle leaves the matcher out.
 *
 * @param match the matcher
 */
export function offerMatching(match: typeof matchSkills): void {
  offered = match;
}

/** The matcher that was offered. */
export function offeredMatching(): typeof matchSkills {
  if (offered === undefined) throw new Error('Cannot match a query: a sandbox has no matcher.');
  return offered;
}
