import type { EvalDifference, EvalRun, EvalSide, EvalSideReport, EvalVerdict, TokenCount } from '../eval-report.ts';
import { seededRandom } from '../seeded-random.ts';
import { compareSides } from '../statistics/compare-sides.ts';
import { smallestPValue } from '../statistics/permutation-test.ts';
import { mean, type ScoredEval } from '../statistics/scored-eval.ts';

/** A difference with a larger p-value counts as chance. */
const ALPHA = 0.05;

/** The context of a judgement. */
export interface RunJudgement {
  /** Ids of the evals. */
  evals: readonly string[];
  /** The side with the skill first. */
  sides: readonly [EvalSide, EvalSide];
  /** Requested runs of each eval on each side. */
  runs: number;
  seed: number;
  interrupted: boolean;
}

/** The judgement of runs. */
export interface JudgedRuns {
  verdict: EvalVerdict;
  reason?: string;
  sides: [EvalSideReport, EvalSideReport];
  difference: EvalDifference | null;
}

/**
 * Judges runs by a test that keeps its error rate for any number of runs. A run is one observation, however many assertions it has; with runs that were
 * not measured, there is no verdict.
 */
export function judgeRuns(results: readonly EvalRun[], judgement: RunJudgement): JudgedRuns {
  const { evals, sides, seed } = judgement;
  const scored = evals.flatMap((id) => scoredEval(results, id, sides));
  const reports = sides.map((side, index) =>
    sideReport(
      results.filter((run) => run.side === side),
      side,
      scored.map(index === 0 ? ({ treated }) => treated : ({ compared }) => compared),
    ),
  ) as [EvalSideReport, EvalSideReport];
  const difference = scored.length === 0 ? null : compareSides(scored, seededRandom(seed), ALPHA);
  const reason = unmeasured(results, judgement, scored);
  if (reason !== undefined) return { verdict: 'could-not-measure', reason, sides: reports, difference };
  return { verdict: verdictOf(difference), sides: reports, difference };
}

/** Runs of each eval on each side that a verdict needs: with fewer, the largest difference could be chance. */
export function runsNeeded(evals: number): number {
  const of = (count: number): ScoredEval => ({ treated: Array(count).fill(1), compared: Array(count).fill(0) });
  let runs = 1;
  while (smallestPValue(Array(evals).fill(of(runs))) > ALPHA) runs += 1;
  return runs;
}

function verdictOf(difference: EvalDifference | null): EvalVerdict {
  if (difference === null || difference.pValue > ALPHA) return 'no-difference';
  return difference.value > 0 ? 'better' : 'worse';
}

function unmeasured(
  results: readonly EvalRun[],
  { evals, sides, runs, interrupted }: RunJudgement,
  scored: readonly ScoredEval[],
): string | undefined {
  const asked = evals.length * sides.length * runs;
  const made = results.filter(({ status }) => status === 'measured').length;
  if (interrupted) return `it was interrupted after ${made} of ${asked} runs`;
  for (const status of ['invalid', 'failed'] as const) {
    const [first, ...others] = results.filter((run) => run.status === status);
    if (first === undefined) continue;
    const where = `run ${first.run} of eval ${first.eval} ${sideWords(first.side)}`;
    const more = others.length === 0 ? '' : `, and ${others.length} more`;
    const what = status === 'invalid' ? 'does not count' : 'could not be measured';
    return `${where}${more} ${what}: ${first.reason ?? 'the reason is unknown'}`;
  }
  if (scored.length === 0) return 'no assertion can be checked by code';
  const needed = runsNeeded(scored.length);
  if (runs >= needed) return undefined;
  return `with ${runs} ${runs === 1 ? 'run' : 'runs'} of each eval, any difference could be chance; ${needed} are needed`;
}

/** A side in the words of a sentence. */
export function sideWords(side: EvalSide): string {
  return { with: 'with the skill', without: 'without the skill', again: 'again with the skill' }[side];
}

/** The scores of an eval that has measured runs on both sides. */
function scoredEval(results: readonly EvalRun[], id: string, sides: readonly [EvalSide, EvalSide]): ScoredEval[] {
  const [treated = [], compared = []] = sides.map((side) =>
    results.flatMap((run) =>
      run.eval === id && run.side === side && run.passRate !== undefined ? [run.passRate] : [],
    ),
  );
  return treated.length === 0 || compared.length === 0 ? [] : [{ treated, compared }];
}

function sideReport(runs: readonly EvalRun[], side: EvalSide, scores: readonly (readonly number[])[]): EvalSideReport {
  return {
    side,
    withSkill: side !== 'without',
    measured: runs.filter(({ status }) => status === 'measured').length,
    passed: runs.filter(({ passRate }) => passRate === 1).length,
    passRate: scores.length === 0 ? null : mean(scores.map(mean)),
    tokens: sumTokens(runs.map(({ tokens }) => tokens)),
  };
}

/** The sum of several token counts; unknown if one of them is. */
export function sumTokens(counts: readonly TokenCount[]): TokenCount {
  const sum = (part: keyof TokenCount): number | null =>
    counts.reduce<number | null>((all, { [part]: some }) => (all === null || some === null ? null : all + some), 0);
  return { input: sum('input'), output: sum('output') };
}
