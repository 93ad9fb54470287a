import { describe, expect, it } from 'vitest';
import { conductEval } from '../../src/evals/conduct-eval.ts';
import type { EvalRun, EvalSide, EvalVerdict } from '../../src/evals/eval-report.ts';
import { judgeRuns, runsNeeded } from '../../src/evals/report/judge-runs.ts';
import type { MadeEvalRun } from '../../src/evals/make-run.ts';
import { seededRandom, type SeededRandom } from '../../src/evals/seeded-random.ts';

const SIDES: [EvalSide, EvalSide] = ['with', 'without'];
const TOKENS = { input: 10, output: 2 };

function run(side: EvalSide, number: number, fields: Partial<EvalRun> = {}): EvalRun {
  return {
    ...{ eval: 'a', side, run: number, status: 'measured', outcome: 'succeeded', passRate: 1 },
    ...{ assertions: [{ status: 'passed' }], tokens: TOKENS, promptSha256: [] },
    ...fields,
  };
}

/** Five runs a side with these pass rates. */
function runs(withSkill: readonly number[], without: readonly number[], id = 'a'): EvalRun[] {
  const rows = (side: EvalSide, rates: readonly number[]): EvalRun[] =>
    rates.map((passRate, index) => run(side, index + 1, { eval: id, passRate }));
  return [...rows('with', withSkill), ...rows('without', without)];
}

const judge = (results: readonly EvalRun[], fields: object = {}): ReturnType<typeof judgeRuns> =>
  judgeRuns(results, { evals: ['a'], sides: SIDES, runs: 5, seed: 1, interrupted: false, ...fields });

const [ALL, NONE] = [
  [1, 1, 1, 1, 1],
  [0, 0, 0, 0, 0],
];

describe('judgeRuns()', () => {
  it.each<[string, EvalRun[], EvalVerdict]>([
    ['every run passes with the skill and none without it', runs(ALL, NONE), 'better'],
    ['no run passes with the skill and every run without it', runs(NONE, ALL), 'worse'],
    ['both sides always pass', runs(ALL, ALL), 'no-difference'],
    ['both sides never pass', runs(NONE, NONE), 'no-difference'],
    ['the difference is as likely chance', runs([1, 1, 1, 0, 0], [1, 0, 0, 0, 0]), 'no-difference'],
    ['a part of the assertions passes more often', runs(ALL, [0.5, 0.5, 0.5, 0.5, 0.5]), 'better'],
    ['a small part of them always does', runs(ALL, [0.9, 0.9, 0.9, 0.9, 0.9]), 'better'],
  ])('gives the right verdict if %s', (_what, results, verdict) => {
    const judged = judge(results);
    expect(judged.verdict).toBe(verdict);
    const { low, high } = judged.difference ?? { low: Number.NaN, high: Number.NaN };
    if (verdict === 'better') expect(low).toBeGreaterThanOrEqual(0);
    else if (verdict === 'worse') expect(high).toBeLessThanOrEqual(0);
    else expect([low <= 0, high >= 0]).toEqual([true, true]);
    expect(judged.reason).toBeUndefined();
  });

  it('gives pass rates, fully passed runs and tokens by side', () => {
    const results = runs(ALL, [1, 0.5, 0.5, 0, 0]).with(0, run('with', 1, { tokens: { input: null, output: 7 } }));
    expect(judge(results).sides).toEqual([
      { side: 'with', withSkill: true, measured: 5, passed: 5, passRate: 1, tokens: { input: null, output: 15 } },
      { side: 'without', withSkill: false, measured: 5, passed: 1, passRate: 0.4, tokens: { input: 50, output: 10 } },
    ]);
  });

  it('gives every eval the same weight', () => {
    const results = [...runs(ALL, NONE), ...runs(ALL, ALL, 'b')];
    const { difference, sides } = judge(results, { evals: ['a', 'b'] });
    expect(difference?.value).toBe(0.5);
    expect(sides.map(({ passRate }) => passRate)).toEqual([1, 0.5]);
  });

  it.each<[string, EvalRun[], object, string]>([
    [
      'a run is invalid',
      runs(ALL, NONE).with(1, run('with', 2, { status: 'invalid', reason: 'no skill', passRate: undefined as never })),
      {},
      'run 2 of eval a with the skill does not count: no skill',
    ],
    [
      'runs failed',
      runs(ALL, NONE)
        .with(5, run('without', 1, { status: 'failed', reason: 'model.failed', passRate: undefined as never }))
        .with(6, run('without', 2, { status: 'failed', passRate: undefined as never })),
      {},
      'run 1 of eval a without the skill, and 1 more could not be measured: model.failed',
    ],
    ['it was interrupted', runs(ALL, NONE).slice(0, 7), { interrupted: true }, 'it was interrupted after 7 of 10 runs'],
    [
      'nothing can be checked',
      runs(ALL, NONE).map((row) => ({ ...row, passRate: undefined as never })),
      {},
      'no assertion can be checked by code',
    ],
    [
      'more runs are needed',
      runs([1, 1, 1], [0, 0, 0]),
      { runs: 3 },
      'with 3 runs of each eval, any difference could be chance; 4 are needed',
    ],
  ])('leaves the question open if %s', (_what, results, fields, reason) => {
    expect(judge(results, fields)).toMatchObject({ verdict: 'could-not-measure', reason });
  });

  it('knows how many runs a verdict needs', () => {
    expect([1, 2, 3, 6].map(runsNeeded)).toEqual([4, 3, 2, 1]);
  });
});

/** An eval of a skill without effect, conducted and judged like a real one, except for the jobs. */
async function evaluateNothing(seed: number): Promise<EvalVerdict> {
  const random = seededRandom(seed * 7919);
  const chance = (): number => random.between(0, 1_000) / 1_000;
  const evals = [...Array(random.between(1, 6)).keys()].map(() => ({
    assertions: random.between(1, 4),
    // Almost never, almost always, or anything between.
    likely: random.pick([chance, () => chance() / 10, () => 1 - chance() / 10])(),
  }));
  const asked = random.between(3, 10);
  const { results, interrupted } = await conductEval({
    evals: evals.length,
    sides: SIDES,
    runs: asked,
    seed,
    signal: undefined,
    make: async ({ eval: index, side, run: number }) => madeRun(String(index), side, number, evals[index]!, random),
    onRun: undefined,
  });
  const ids = evals.map((_, index) => String(index));
  return judgeRuns(results, { evals: ids, sides: SIDES, runs: asked, seed, interrupted }).verdict;
}

function madeRun(
  id: string,
  side: EvalSide,
  number: number,
  { assertions, likely }: { assertions: number; likely: number },
  random: SeededRandom,
): MadeEvalRun {
  // Assertions of one run pass together more often than independent ones.
  const mood = random.between(0, 999) / 1_000;
  const passed = [...Array(assertions).keys()].filter(
    () => (random.between(0, 1) === 0 ? mood : random.between(0, 999) / 1_000) < likely,
  ).length;
  return { row: run(side, number, { eval: id, passRate: passed / assertions }), files: new Map(), answers: [] };
}

it('1,000 evals of a skill without effect find a difference in at most 5 % of them', async () => {
  const verdicts: Record<EvalVerdict, number> = { better: 0, worse: 0, 'no-difference': 0, 'could-not-measure': 0 };
  for (let seed = 1; seed <= 1_000; seed += 1) verdicts[await evaluateNothing(seed)] += 1;
  expect(verdicts.better + verdicts.worse).toBeLessThanOrEqual(50);
  // It does err, as often as chance allows, and both ways: otherwise it would find nothing in any eval.
  expect(verdicts.better).toBeGreaterThan(0);
  expect(verdicts.worse).toBeGreaterThan(0);
  expect(verdicts['no-difference']).toBeGreaterThan(850);
});
