/** Scores of the runs of one eval, from 0 to 1. */
export interface ScoredEval {
  /** Scores of the runs with the skill. */
  treated: readonly number[];
  /** Scores of the runs on the other side. */
  compared: readonly number[];
}

/** The mean of a list; of an empty one, 0. */
export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The mean lead of the runs with the skill, with the same weight for each eval. */
export function meanDifference(evals: readonly ScoredEval[]): number {
  return mean(evals.map(({ treated, compared }) => mean(treated) - mean(compared)));
}
