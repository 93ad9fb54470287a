/** What the runs of one eval came to: scores from 0 to 1, a run each. */
export interface ScoredEval {
  /** Of the runs with the skill. */
  treated: readonly number[];
  /** Of those that they are compared with. */
  compared: readonly number[];
}

/** The mean of a list; of an empty one, 0. */
export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** By how much the runs with the skill are better, each eval counting the same. */
export function meanDifference(evals: readonly ScoredEval[]): number {
  return mean(evals.map(({ treated, compared }) => mean(treated) - mean(compared)));
}
