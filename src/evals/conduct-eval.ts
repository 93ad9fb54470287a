import type { EvalRun, EvalSide } from './eval-report.ts';
import type { MadeEvalRun } from './make-run.ts';
import { seededRandom, type SeededRandom } from './seeded-random.ts';

/** One run that is to be made. */
export interface PlannedRun {
  /** Index of the eval. */
  eval: number;
  side: EvalSide;
  /** From 1. */
  run: number;
}

/** After so many runs in a row that came to nothing, the next would as well. */
const FAILURES_IN_A_ROW = 3;

/** What is to be run, and how. */
export interface ConductOptions {
  /** How many evals there are. */
  evals: number;
  sides: readonly [EvalSide, EvalSide];
  runs: number;
  seed: number;
  signal: AbortSignal | undefined;
  make(planned: PlannedRun): Promise<MadeEvalRun>;
  /** Told of each run; the next one waits for it. */
  onRun: ((made: MadeEvalRun, progress: EvalProgress) => void | Promise<void>) | undefined;
}

/** Where a run stands among all. */
export interface EvalProgress {
  /** From 1. */
  index: number;
  total: number;
}

/** What was run. */
export interface ConductedEval {
  results: EvalRun[];
  models: string[];
  interrupted: boolean;
  /** Whether it was given up. */
  gaveUp: boolean;
}

/** Makes all runs of an eval, one after the other, until it is interrupted or nothing comes of them. */
export async function conductEval(options: ConductOptions): Promise<ConductedEval> {
  const { evals, sides, runs, seed, signal, make, onRun } = options;
  const schedule = scheduleRuns(evals, sides, runs, seededRandom(seed));
  const results: EvalRun[] = [];
  const models = new Set<string>();
  let failures = 0;
  for (const [index, planned] of schedule.entries()) {
    if (signal?.aborted === true || failures === FAILURES_IN_A_ROW) break;
    const made = await make(planned);
    results.push(made.row);
    for (const { model } of made.answers) models.add(model);
    failures = made.row.status === 'failed' ? failures + 1 : 0;
    await onRun?.(made, { index: index + 1, total: schedule.length });
  }
  const isWhole = results.length === schedule.length && results.at(-1)?.status !== 'failed';
  const interrupted = signal?.aborted === true && !isWhole;
  return { results, models: [...models], interrupted, gaveUp: !interrupted && results.length < schedule.length };
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
