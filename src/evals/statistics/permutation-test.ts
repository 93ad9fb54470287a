import type { SeededRandom } from '../seeded-random.ts';
import { meanDifference, type ScoredEval } from './scored-eval.ts';

/** Shuffles of a test. The observed order counts as one more. */
const SHUFFLES = 9_999;
/** Sums of the same scores in another order differ by this much. */
const ROUNDING = 1e-9;

/**
 * How often a difference as large as the observed one, in either direction, comes about if the skill has no effect: then each score of an eval
 * could as well stand on the other side. Scores are shuffled within each eval, so that evals may differ in difficulty, and runs of one eval
 * may be alike. With the observed order counted, the test keeps its error rate for any number of runs or shuffles
 * (Phipson and Smyth 2010, doi:10.2202/1544-6115.1585).
 *
 * @param evals scores of runs; a run is one observation, however many assertions it has
 * @returns from 1 / 10,000 to 1
 */
export function permutationTest(evals: readonly ScoredEval[], random: SeededRandom): number {
  const observed = Math.abs(meanDifference(evals)) - ROUNDING;
  // Equal scores are the same in every order, so they are left out.
  const strata = evals.map(stratumOf).filter(({ scores }) => scores.some((score) => score !== scores[0]));
  let asLarge = 1;
  for (let shuffle = 0; shuffle < SHUFFLES; shuffle += 1) {
    let difference = 0;
    for (const stratum of strata) difference += shuffledDifference(stratum, random);
    if (Math.abs(difference) / evals.length >= observed) asLarge += 1;
  }
  return asLarge / (SHUFFLES + 1);
}

/** The smallest value that {@link permutationTest} can give for so many runs of each side, with any scores. */
export function smallestPValue(evals: readonly ScoredEval[]): number {
  const orders = evals.reduce(
    (product, { treated, compared }) => product * choose(treated.length + compared.length, treated.length),
    1,
  );
  return Math.max(2 / orders, 1 / (SHUFFLES + 1));
}

interface Stratum {
  scores: Float64Array;
  sum: number;
  treated: number;
  compared: number;
}

function stratumOf({ treated, compared }: ScoredEval): Stratum {
  const scores = Float64Array.of(...treated, ...compared);
  return {
    scores,
    sum: scores.reduce((sum, score) => sum + score, 0),
    treated: treated.length,
    compared: compared.length,
  };
}

/** Draws the scores of one side, as the beginning of a shuffle, and compares them with the rest. */
function shuffledDifference({ scores, sum, treated, compared }: Stratum, random: SeededRandom): number {
  let drawn = 0;
  for (let index = 0; index < treated; index += 1) {
    const other = random.between(index, scores.length - 1);
    const score = scores[other] ?? 0;
    scores[other] = scores[index] ?? 0;
    scores[index] = score;
    drawn += score;
  }
  return drawn / treated - (sum - drawn) / compared;
}

function choose(total: number, chosen: number): number {
  let ways = 1;
  for (let index = 1; index <= chosen; index += 1) ways = (ways * (total - chosen + index)) / index;
  return ways;
}
