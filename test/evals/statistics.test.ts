import { describe, expect, it } from 'vitest';
import { seededRandom, type SeededRandom } from '../../src/evals/seeded-random.ts';
import { compareSides } from '../../src/evals/statistics/compare-sides.ts';
import { differenceInterval } from '../../src/evals/statistics/compare-sides.ts';
import { permutationTest, smallestPValue } from '../../src/evals/statistics/permutation-test.ts';
import { meanDifference, type ScoredEval } from '../../src/evals/statistics/scored-eval.ts';

/** Scores of both sides, of which so many passed. */
function counts(treated: number, compared: number, runs: number): ScoredEval {
  const side = (passed: number): number[] => [...Array(runs).keys()].map((index) => (index < passed ? 1 : 0));
  return { treated: side(treated), compared: side(compared) };
}

const draw = (random: SeededRandom): number => random.between(0, 999_999) / 1_000_000;

/** A distribution of scores: the numbers of evals, runs and assertions, and the chance that the assertions of an eval pass. */
interface World {
  evals: number;
  runs: number;
  assertions: number;
  likely(random: SeededRandom): number;
}

const LIKELY = {
  anything: draw,
  'as good as never or always': (random: SeededRandom) =>
    draw(random) < 0.5 ? draw(random) / 10 : 1 - draw(random) / 10,
  half: () => 0.5,
};
const SIZES = [
  [1, 4, 1],
  [1, 5, 3],
  [1, 20, 1],
  [3, 3, 1],
  [3, 5, 4],
  [10, 5, 1],
  [20, 2, 1],
  [8, 1, 2],
] as const;
const WORLDS = Object.entries(LIKELY).flatMap(([chances, likely]) =>
  SIZES.map(([evals, runs, assertions]) => ({ chances, evals, runs, assertions, likely })),
);

/** Scores of runs whose assertions depend on each other in part, and the true difference. */
function sample(world: World, isSame: boolean, random: SeededRandom): { scored: ScoredEval[]; truth: number } {
  let truth = 0;
  const scored = [...Array(world.evals).keys()].map(() => {
    const compared = world.likely(random);
    const treated = isSame ? compared : world.likely(random);
    truth += (treated - compared) / world.evals;
    const side = (chance: number): number[] =>
      [...Array(world.runs).keys()].map(() => {
        const mood = draw(random);
        const passed = [...Array(world.assertions).keys()].filter(
          () => (draw(random) < 0.5 ? mood : draw(random)) < chance,
        );
        return passed.length / world.assertions;
      });
    return { treated: side(treated), compared: side(compared) };
  });
  return { scored, truth };
}

describe('permutationTest()', () => {
  // Sums of hypergeometric probabilities by hand: 2 × P(at least so many of the passed ones are on one side).
  it.each([
    ['5 of 5 and 0 of 5', [counts(5, 0, 5)], 2 / 252],
    ['5 of 5 and 1 of 5', [counts(5, 1, 5)], 12 / 252],
    ['4 of 5 and 1 of 5', [counts(4, 1, 5)], 52 / 252],
    ['0 of 4 and 4 of 4', [counts(0, 4, 4)], 2 / 70],
    ['two evals of 3 of 3 and 0 of 3', [counts(3, 0, 3), counts(3, 0, 3)], 2 / 400],
    ['an eval that differs beside one that does not', [counts(5, 0, 5), counts(5, 5, 5)], 2 / 252],
    ['equal scores only', [counts(5, 5, 5)], 1],
    ['half and half', [counts(2, 2, 4)], 1],
  ])('gives the exact value for %s', (_what, scored, exact) => {
    expect(permutationTest(scored, seededRandom(3))).toBeCloseTo(exact, 1);
    expect(Math.abs(permutationTest(scored, seededRandom(3)) - exact)).toBeLessThan(0.012);
  });

  it('takes a run as one observation, however finely it is scored', () => {
    const fine = { treated: [1, 1, 1], compared: [0.75, 0.75, 0.75] };
    expect(permutationTest([fine], seededRandom(1))).toBeCloseTo(
      permutationTest([counts(3, 0, 3)], seededRandom(1)),
      5,
    );
  });

  it('gives the same for the same seed, and no less than the number of orders allows', () => {
    const scored = [counts(4, 1, 5), counts(5, 2, 5)];
    expect(permutationTest(scored, seededRandom(9))).toBe(permutationTest(scored, seededRandom(9)));
    expect(smallestPValue([counts(4, 0, 4)])).toBeCloseTo(2 / 70, 10);
    expect(smallestPValue([counts(3, 0, 3), counts(1, 0, 3)])).toBeCloseTo(2 / 400, 10);
    expect(smallestPValue(Array<ScoredEval>(50).fill(counts(9, 0, 9)))).toBe(1 / 10_000);
  });
});

describe('differenceInterval()', () => {
  it('is that of Agresti and Caffo for one eval whose runs pass or fail, except for the divisor of a small sample', () => {
    const { value, low, high } = differenceInterval([counts(7, 3, 10)]);
    const [one, other] = [8 / 12, 4 / 12];
    const half = 1.959964 * Math.sqrt((one * (1 - one)) / 11 + (other * (1 - other)) / 11);
    expect(value).toBeCloseTo(0.4, 10);
    expect([low, high]).toEqual([expect.closeTo(one - other - half, 10), expect.closeTo(one - other + half, 10)]);
  });

  it('contains the observed difference, stays within -1 and 1, and leaves room if all runs are equal', () => {
    const certain = differenceInterval([counts(5, 0, 5)]);
    expect(certain).toMatchObject({ value: 1, high: 1 });
    expect(certain.low).toBeGreaterThan(0);
    expect(certain.low).toBeLessThan(0.5);
    const none = differenceInterval([counts(5, 5, 5)]);
    expect(none.value).toBe(0);
    expect(none.low).toBeLessThan(-0.2);
    expect(none.high).toBeCloseTo(-none.low, 10);
  });

  it('does not count differences in difficulty between evals as noise', () => {
    const apart = differenceInterval([counts(10, 9, 10), counts(1, 0, 10)]);
    const mixed = differenceInterval([counts(6, 5, 10), counts(5, 4, 10)]);
    expect(apart.value).toBeCloseTo(mixed.value, 10);
    expect(apart.high - apart.low).toBeLessThan((mixed.high - mixed.low) * 0.8);
  });

  it('is mirrored if the sides are exchanged', () => {
    const [one, other] = [differenceInterval([counts(4, 1, 5)]), differenceInterval([counts(1, 4, 5)])];
    expect([other.value, other.low, other.high]).toEqual(
      [-one.value, -one.high, -one.low].map((end) => expect.closeTo(end, 10)),
    );
  });

  it.each(WORLDS)('covers the truth: $evals evals, $runs runs, $assertions assertions, that pass $chances', (world) => {
    const random = seededRandom(11);
    const trials = 1_500;
    let covered = 0;
    for (let trial = 0; trial < trials; trial += 1) {
      const { scored, truth } = sample(world, false, random);
      const { low, high } = differenceInterval(scored);
      if (low <= truth + 1e-9 && truth <= high + 1e-9) covered += 1;
    }
    // 95 %, less three standard errors of so many trials.
    expect(covered / trials).toBeGreaterThan(0.95 - 3 * Math.sqrt((0.95 * 0.05) / trials));
  });
});

describe('compareSides()', () => {
  it('gives an interval that still covers the truth once it agrees with the test', () => {
    const random = seededRandom(12);
    const trials = 1_500;
    let covered = 0;
    for (let trial = 0; trial < trials; trial += 1) {
      const { scored, truth } = sample(WORLDS[trial % WORLDS.length]!, random.between(0, 1) === 0, random);
      const { value, low, high, pValue } = compareSides(scored, random, 0.05);
      if (low <= truth + 1e-9 && truth <= high + 1e-9) covered += 1;
      if (pValue > 0.05) expect(low <= 0 && high >= 0).toBe(true);
      else expect(value > 0 ? low >= 0 : high <= 0).toBe(true);
    }
    expect(covered / trials).toBeGreaterThan(0.95);
  });
});

describe('meanDifference()', () => {
  it('gives every eval the same weight, for any number of runs', () => {
    expect(meanDifference([{ treated: [1], compared: [0] }, counts(1, 1, 9)])).toBe(0.5);
    expect(meanDifference([])).toBe(0);
  });
});
