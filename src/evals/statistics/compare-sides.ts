import type { EvalDifference } from '../eval-report.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { permutationTest } from './permutation-test.ts';
import { meanDifference, type ScoredEval } from './scored-eval.ts';

/** Two-sided 95 % of a normal distribution. */
const Z = 1.959964;

/** A difference and its interval. */
export interface DifferenceInterval {
  value: number;
  low: number;
  high: number;
}

/**
 * Compares two sides. The test decides whether there is a difference, since it is exact. The interval follows it, so that the two never
 * contradict each other: it holds zero if the test finds no difference; if the test finds one, the interval is cut off at zero.
 *
 * @param alpha the error of the test
 */
export function compareSides(evals: readonly ScoredEval[], random: SeededRandom, alpha: number): EvalDifference {
  const { value, low, high } = differenceInterval(evals);
  const pValue = permutationTest(evals, random);
  if (pValue > alpha) return { value, low: Math.min(0, low), high: Math.max(0, high), pValue };
  return value > 0 ? { value, low: Math.max(0, low), high, pValue } : { value, low, high: Math.min(0, high), pValue };
}

/**
 * A 95 % interval of the difference of two pass rates, with evals as strata: evals of different difficulty add nothing to the variance. After Agresti and Caffo (2000, doi:10.1080/00031305.2000.10474560) one passed run and one failed run are added to each side, here
 * in equal parts to every eval; without them, runs with equal scores would seem certain. For scores between 0 and 1 their own variance
 * stands in place of a proportion's. A test measures its coverage.
 */
export function differenceInterval(evals: readonly ScoredEval[]): DifferenceInterval {
  const added = 1 / evals.length;
  let center = 0;
  let variance = 0;
  for (const { treated, compared } of evals) {
    const [one, other] = [withAdded(treated, added), withAdded(compared, added)];
    center += (one.mean - other.mean) / evals.length;
    variance += (one.variance + other.variance) / evals.length ** 2;
  }
  const half = Z * Math.sqrt(variance);
  const value = meanDifference(evals);
  return {
    value,
    low: Math.max(-1, Math.min(value, center - half)),
    high: Math.min(1, Math.max(value, center + half)),
  };
}

/** The mean of scores together with a part of a 1 and of a 0, and the variance of that mean. */
function withAdded(scores: readonly number[], added: number): { mean: number; variance: number } {
  const weight = scores.length + 2 * added;
  const mean = (scores.reduce((sum, score) => sum + score, 0) + added) / weight;
  const squares = scores.reduce((sum, score) => sum + (score - mean) ** 2, 0) + added * (mean ** 2 + (1 - mean) ** 2);
  return { mean, variance: squares / (weight * (weight - 1)) };
}
