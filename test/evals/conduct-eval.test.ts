import { describe, expect, it } from 'vitest';
import { conductEval, type ConductOptions } from '../../src/evals/conduct-eval.ts';
import type { EvalRun } from '../../src/evals/eval-report.ts';
import { scheduleRuns } from '../../src/evals/conduct-eval.ts';
import { seededRandom } from '../../src/evals/seeded-random.ts';

const ANSWER = { text: '', model: 'test/model', usage: { inputTokens: 1, outputTokens: 1 }, finishReason: 'stop' };

function options(status: (index: number) => EvalRun['status'], more: Partial<ConductOptions> = {}): ConductOptions {
  let made = 0;
  return {
    evals: 2,
    sides: ['with', 'without'],
    runs: 3,
    seed: 1,
    signal: undefined,
    onRun: undefined,
    make: async ({ eval: index, side, run }) => {
      const row = { eval: String(index), side, run, status: status(made++), assertions: [], promptSha256: [] };
      return { row: { ...row, tokens: { input: 1, output: 1 } }, files: new Map(), answers: [ANSWER] };
    },
    ...more,
  };
}

describe('scheduleRuns()', () => {
  it('has every eval once on each side in every round, side by side, in an order that its seed decides', () => {
    const schedule = scheduleRuns(3, ['with', 'without'], 4, seededRandom(5));
    const rounds = [1, 2, 3, 4].map((run) => schedule.slice((run - 1) * 6, run * 6));
    for (const [index, round] of rounds.entries()) {
      expect(round.every(({ run }) => run === index + 1)).toBe(true);
      const pairs = [0, 2, 4].map((at) => round.slice(at, at + 2));
      for (const [one, other] of pairs) {
        expect(one?.eval).toBe(other?.eval);
        expect(one?.side).not.toBe(other?.side);
      }
      expect(new Set(pairs.map(([one]) => one?.eval))).toEqual(new Set([0, 1, 2]));
    }
    expect(scheduleRuns(3, ['with', 'without'], 4, seededRandom(5))).toEqual(schedule);
    expect(scheduleRuns(3, ['with', 'without'], 4, seededRandom(6))).not.toEqual(schedule);
    const first = scheduleRuns(1, ['with', 'without'], 100, seededRandom(1)).filter((_, index) => index % 2 === 0);
    const ahead = first.filter(({ side }) => side === 'with').length;
    expect(ahead).toBeGreaterThan(30);
    expect(ahead).toBeLessThan(70);
  });
});

describe('conductEval()', () => {
  it('makes every run, reports each with its position, and names each model once', async () => {
    const told: string[] = [];
    const onRun: ConductOptions['onRun'] = ({ row }, { index, total }) =>
      void told.push(`${index}/${total} ${row.eval} ${row.side} ${row.run}`);
    const conducted = await conductEval(options(() => 'measured', { onRun }));
    expect(conducted).toMatchObject({ interrupted: false, gaveUp: false, models: ['test/model'] });
    expect(conducted.results).toHaveLength(12);
    expect(told).toEqual(
      conducted.results.map(({ eval: id, side, run }, index) => `${index + 1}/12 ${id} ${side} ${run}`),
    );
  });

  it('gives up after three failed runs in a row, and not before', async () => {
    const twice = await conductEval(options((index) => (index % 3 === 2 ? 'measured' : 'failed')));
    expect([twice.results.length, twice.gaveUp]).toEqual([12, false]);
    const thrice = await conductEval(options((index) => (index < 2 ? 'measured' : 'failed')));
    expect([thrice.results.length, thrice.gaveUp, thrice.interrupted]).toEqual([5, true, false]);
    const invalid = await conductEval(options(() => 'invalid'));
    expect(invalid.results).toHaveLength(12);
  });

  it('stops at an interruption, and keeps the runs until then', async () => {
    const controller = new AbortController();
    const onRun: ConductOptions['onRun'] = (_made, { index }) => (index === 4 ? controller.abort() : undefined);
    const { signal } = controller;
    const conducted = await conductEval(options(() => 'measured', { onRun, signal }));
    expect([conducted.results.length, conducted.interrupted, conducted.gaveUp]).toEqual([4, true, false]);
    expect(await conductEval(options(() => 'measured', { signal }))).toMatchObject({ results: [], interrupted: true });
  });

  it('is not interrupted by a signal after the last run', async () => {
    const controller = new AbortController();
    const onRun: ConductOptions['onRun'] = (_made, { index }) => (index === 12 ? controller.abort() : undefined);
    const conducted = await conductEval(options(() => 'measured', { onRun, signal: controller.signal }));
    expect(conducted).toMatchObject({ interrupted: false, results: { length: 12 } });
  });
});
