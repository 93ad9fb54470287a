import type { EvalRun, EvalSide } from './eval-report.ts';
import type { MadeEvalRun } from './make-run.ts';
import { seededRandom, type SeededRandom } from './seeded-random.ts';

/** One run to make. */
export interface PlannedRun {
  /** Index of the eval. */
  eval: number;
  side: EvalSide;
  /** From 1. */
  run: number;
}

/** After so many failed runs in a row, the next would fail as well. */
const FAILURES_IN_A_ROW = 3;

/** The runs to make, and their order. */
export interface ConductOptions {
  /** Number of evals. */
  evals: number;
  sides: readonly [EvalSide, EvalSide];
  runs: number;
  seed: number;
  signal: AbortSignal | undefined;
  make(planned: PlannedRun): Promise<MadeEvalRun>;
  /** Receives each run; the next one waits for it. */
  onRun: ((made: MadeEvalRun, progress: EvalProgress) => void | Promise<void>) | undefined;
}

/** The position of a run among all. */
export interface EvalProgress {
  /** From 1. */
  index: number;
  total: number;
}

/** The runs that were made. */
export interface ConductedEval {
  results: EvalRun[];
  models: string[];
  interrupted: boolean;
  /** Whether it was given up. */
  gaveUp: boolean;
}

/** Makes all runs of an eval, one after the other, until it is interrupted or too many runs fail in a row. */
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
 * Orders the runs: each round has every eval once on each side, evals and sides in random order. Changes over time, such as a service that is
 * slow in the evening, thus affect both sides alike, and an interrupted evaluation has almost as many runs on one side as on the other.
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
