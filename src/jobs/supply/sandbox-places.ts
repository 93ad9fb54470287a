import type { Language } from '../../contracts/jobs/language.ts';
import type { JobLimits } from '../../contracts/jobs/limits.ts';
import { ISOLATION_LEVELS, type Isolation, type RunnerName } from '../../contracts/jobs/result.ts';
import type { Runner } from '../../sandboxes/runner.ts';

/** Demands of a job on its sandbox. */
export interface SandboxDemand {
  runner: 'auto' | RunnerName;
  /** Lowest acceptable level; undefined for the default. */
  isolation: Isolation | undefined;
  language: Language;
  limits: JobLimits;
}

/** A runner and one of its levels. */
export interface SandboxPlace {
  runner: Runner;
  isolation: Isolation;
}

/** Lowest level of a job that names no level. */
export const DEFAULT_ISOLATION: Isolation = 'namespace';

/**
 * Places where a sandbox may be started, in the order of the attempts: first the named level, then stronger levels, each in the
 * runners' order of preference. Level `none` comes last, unless the job names it.
 */
export function sandboxPlaces(
  { runner: wanted, isolation: named }: Pick<SandboxDemand, 'runner' | 'isolation'>,
  { runners, allowUnisolated }: { runners: readonly Runner[]; allowUnisolated: boolean },
): SandboxPlace[] {
  const least = rank(named ?? (allowUnisolated ? 'none' : DEFAULT_ISOLATION));
  const turn = ({ isolation }: SandboxPlace): number => (isolation === named ? 0 : isolation === 'none' ? 2 : 1);
  const places = runners
    .filter(({ name }) => wanted === 'auto' || wanted === name)
    .flatMap((runner) => runner.levels.map((isolation): SandboxPlace => ({ runner, isolation })))
    .filter(({ isolation }) => rank(isolation) >= least)
    .toSorted((a, b) => turn(a) - turn(b));
  // A job that names level none wants no isolation. It gets a stronger level only if no runner has level none.
  const plain = named === 'none' ? places.filter(({ isolation }) => isolation === 'none') : [];
  return plain.length > 0 ? plain : places;
}

function rank(isolation: Isolation): number {
  return ISOLATION_LEVELS.indexOf(isolation);
}
