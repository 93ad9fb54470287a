import type { EvalSide } from './eval-report.ts';
import type { SeededRandom } from './seeded-random.ts';

/** One run that is to be made. */
export interface PlannedRun {
  /** Index of the eval. */
  eval: number;
  side: EvalSide;
  /** From 1. */
  run: number;
}

/**
 * Puts the runs in an order: round after round every eval once on each side, evals and sides of a round at random. What changes over time, such as a
 * service that is slow in the evening, so meets both sides alike, and what is there after an interruption is as good as even.
 */
export function scheduleRuns(
  evals: number,
  sides: readonly [EvalSide, EvalSide],
  runs: number,
  random: SeededRandom,
): PlannedRun[] {
  const planned: PlannedRun[] = [];
  for (let run = 1; run <= runs; run += 1) {
    for (const index of shuffled([...Array(evals).keys()], random)) {
      for (const side of shuffled(sides, random)) planned.push({ eval: index, side, run });
    }
  }
  return planned;
}

function shuffled<T>(items: readonly T[], random: SeededRandom): T[] {
  const left = [...items];
  return items.flatMap(() => left.splice(random.between(0, left.length - 1), 1));
}
