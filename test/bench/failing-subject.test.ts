import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { measurementOf, type Measurement } from '../../bench/measurement.ts';
import { tableOf } from '../../bench/print-table.ts';
import { takeTurns } from '../../bench/take-turns.ts';
import { describeMachine } from '../../bench/machine.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Fails from one of its turns on; those that are not counted count here. */
function failingAt(turn: number): () => Promise<number> {
  let turns = 0;
  return async () => {
    turns += 1;
    if (turns >= turn) throw new Error('the job went another way,\n got nothing.');
    return 1;
  };
}

describe('a subject that fails', () => {
  it('has no more turns, and the others have all of theirs', async () => {
    const told: string[] = [];
    let tried = 0;
    const subjects = [
      { id: 'first', sample: async () => 2 },
      { id: 'broken', sample: failingAt(4) },
      { id: 'unprepared', prepare: () => Promise.reject(new Error('no engine')), sample: async () => (tried += 1) },
      { id: 'last', sample: async () => 3 },
    ];
    const values = await takeTurns(subjects, 5, (text) => told.push(text));
    expect([values.get('first'), values.get('last')]).toEqual([Array(5).fill(2), Array(5).fill(3)]);
    expect(values.get('broken')).toEqual({ failed: 'Error: the job went another way, got nothing.' });
    expect(values.get('unprepared')).toEqual({ failed: 'Error: no engine' });
    expect(tried).toBe(0);
    expect(told).toHaveLength(2);
  });

  it('is a row that says why, and so is one whose baseline failed', () => {
    const shape = { unit: 'ms', goal: 'ratio ≤ 1' };
    const rows = [
      measurementOf({ id: 'good', ...shape, values: [2, 4], baseline: { id: 'base', values: [3] } }),
      measurementOf({ id: 'broken', ...shape, values: { failed: 'too late' }, baseline: { id: 'base', values: [3] } }),
      measurementOf({ id: 'lonely', ...shape, values: [2], baseline: { id: 'base', values: { failed: 'gone' } } }),
    ];
    expect(rows.map(({ failed }) => failed)).toEqual([undefined, 'too late', 'its baseline failed: gone']);
    const lines = tableOf(describeMachine(), rows).split('\n');
    expect(lines.find((line) => line.startsWith('good'))).toMatch(/ 3 .* 1\.00 +ratio ≤ 1$/);
    expect(lines.find((line) => line.startsWith('broken'))).toMatch(/ NaN .*failed: too late$/);
    expect(lines.find((line) => line.startsWith('lonely'))).toMatch(/failed: its baseline failed: gone$/);
  });

  it('does not end the run', async () => {
    const args = ['bench/main.ts', 'docker.js', '--json', '--samples', '1'];
    const { exitCode, stdout } = await execa(process.execPath, args, {
      cwd: root,
      env: { DOCKER_HOST: 'unix:///nowhere/engine.sock' },
      reject: false,
      stdin: 'ignore',
    });
    const { benchmarks } = JSON.parse(stdout) as { benchmarks: Measurement[] };
    expect(benchmarks.map(({ id, median }) => [id, median])).toEqual([
      ['docker.js.warm', null],
      ['docker.js.cold', null],
    ]);
    for (const { failed } of benchmarks) expect(failed).toContain('Cannot reach the Docker engine');
    expect(exitCode).toBe(1);
  });
});
