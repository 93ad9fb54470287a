import type { EvalDifference } from '../eval-report.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { differenceInterval } from './difference-interval.ts';
import { permutationTest } from './permutation-test.ts';
import type { ScoredEval } from './scored-eval.ts';

/**
 * Compares two sides. The test decides whether there is a difference, since it is exact; the interval reaches zero where the test leaves that open,
 * and ends there where the test rules it out, so that neither denies what the other says.
 *
 * @param alpha the error of the test
 */
export function compareSides(evals: readonly ScoredEval[], random: SeededRandom, alpha: number): EvalDifference {
  const { value, low, high } = differenceInterval(evals);
  const pValue = permutationTest(evals, random);
  if (pValue > alpha) return { value, low: Math.min(0, low), high: Math.max(0, high), pValue };
  return value > 0 ? { value, low: Math.max(0, low), high, pValue } : { value, low, high: Math.min(0, high), pValue };
}
