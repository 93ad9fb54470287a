import type { EvalRun, EvalSide } from './eval-report.ts';
import type { MadeEvalRun } from './make-run.ts';
import { type PlannedRun, scheduleRuns } from './schedule-runs.ts';
import { seededRandom } from './seeded-random.ts';

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
