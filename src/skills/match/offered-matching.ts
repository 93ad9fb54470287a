import type { matchSkills } from './triggers.ts';

let offered: typeof matchSkills | undefined;

/**
 * Takes how skills are chosen by their triggers. The host's loaders offer it; nothing in a sandbox matches a query, so its bundle
 * doesn't hold the matcher.
 *
 * @param match the matcher
 */
export function offerMatching(match: typeof matchSkills): void {
  offered = match;
}

/** The matcher that was offered. */
export function offeredMatching(): typeof matchSkills {
  if (offered === undefined) throw new Error('Cannot match a query: nothing here matches triggers, got a sandbox.');
  return offered;
}
