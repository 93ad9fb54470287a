import type { Language } from '../../contracts/jobs/language.ts';
import type { JobLimits } from '../../contracts/jobs/limits.ts';
import { ISOLATION_LEVELS, type Isolation, type RunnerName } from '../../contracts/jobs/result.ts';
import type { Runner } from '../../sandboxes/runner.ts';

/** What a job demands of its sandbox. */
export interface SandboxDemand {
  runner: 'auto' | RunnerName;
  /** The least that is acceptable; undefined for the default. */
  isolation: Isolation | undefined;
  language: Language;
  limits: JobLimits;
}

/** A runner and one of its levels. */
export interface SandboxPlace {
  runner: Runner;
  isolation: Isolation;
}

/** The least that a job gets which names no level. */
export const DEFAULT_ISOLATION: Isolation = 'namespace';

/**
 * Where a sandbox may be started, in the order in which it is tried: at the level that was named, then at stronger ones,
 * each as the runners are preferred. Level `none` comes after all that isolates, unless it is what was named.
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
  // Who names level none wants the machine as it is, and gets something else only from a runner that has nothing weaker.
  const plain = named === 'none' ? places.filter(({ isolation }) => isolation === 'none') : [];
  return plain.length > 0 ? plain : places;
}

function rank(isolation: Isolation): number {
  return ISOLATION_LEVELS.indexOf(isolation);
}
