import type { ConductedEval } from './conduct-eval.ts';
import type { PlannedEval } from './plan/eval-plan.ts';
import type { EvalCaseReport, EvalRun, EvalSide } from './eval-report.ts';
import { mean } from './statistics/scored-eval.ts';

/** The report on each eval. */
export function caseReports(
  evals: readonly PlannedEval[],
  results: readonly EvalRun[],
  sides: readonly EvalSide[],
): EvalCaseReport[] {
  return evals.map(({ id, prompt, expectedOutput, assertions }) => {
    const runsOf = (side: EvalSide): EvalRun[] =>
      results.filter((run) => run.eval === id && run.side === side && run.status === 'measured');
    return {
      id,
      prompt,
      ...(expectedOutput === undefined ? {} : { expectedOutput }),
      sides: Object.fromEntries(sides.map((side) => [side, sideOf(runsOf(side))])),
      assertions: assertions.map(({ text, check }, index) => ({
        text,
        checked: check !== undefined,
        passed:
          check === undefined
            ? {}
            : Object.fromEntries(
                sides.map((side) => [
                  side,
                  runsOf(side).filter((run) => run.assertions[index]?.status === 'passed').length,
                ]),
              ),
      })),
    };
  });
}

function sideOf(runs: readonly EvalRun[]): { measured: number; passRate: number | null } {
  const rates = runs.flatMap(({ passRate }) => passRate ?? []);
  return { measured: runs.length, passRate: rates.length === 0 ? null : mean(rates) };
}

/** Further notes for the reader. */
export function reportNotes(evals: readonly PlannedEval[], { gaveUp }: ConductedEval): string[] {
  const prose = evals.flatMap(({ assertions }) => assertions).filter(({ check }) => check === undefined).length;
  const bare = evals.filter(({ assertions }) => assertions.every(({ check }) => check === undefined));
  return [
    ...(prose === 0 ? [] : [`${prose} ${prose === 1 ? 'expectation is' : 'expectations are'} prose, and unchecked.`]),
    ...(bare.length === 0 || bare.length === evals.length
      ? []
      : [`Without anything to check, these evals count for nothing: ${bare.map(({ id }) => id).join(', ')}.`]),
    ...(gaveUp ? ['It was given up: too many runs in a row could not be measured.'] : []),
  ];
}
