import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureRuntime } from '../src/runners/runtime-bundle.ts';
import { BARE_NODE, bareNode, timedNode } from './bare-node.ts';
import type { BenchmarkGroup, BenchmarkOptions } from './benchmark-group.ts';
import { measurementOf, type Measurement } from './measurement.ts';
import { takeTurns } from './take-turns.ts';

const LOAD = 'entry.load';
const SIZE = 'entry.size';
const MAX_KB = 200;
const ROUNDS = 40;

/** What the entry costs a Node that starts: its file, and the time to load all of it that every job needs. */
export const entryLoad: BenchmarkGroup = { ids: [LOAD, SIZE], run };

async function run({ samples = ROUNDS, progress }: BenchmarkOptions): Promise<Measurement[]> {
  const entry = join((await ensureRuntime()).folder, 'entry.cjs');
  // An unknown level is refused once everything is loaded, before anything is started.
  const program = `process.argv = ['node', ${JSON.stringify(entry)}, '--level=bench'];
try { require(${JSON.stringify(entry)}); } catch (error) {
  if (!/^Cannot start the entry: --level/.test(error.message)) throw error;
}`;
  const subjects = [
    { id: BARE_NODE, sample: bareNode },
    { id: LOAD, sample: () => timedNode(['-e', program]) },
  ];
  const values = await takeTurns(subjects, samples, progress);
  const bare = values.get(BARE_NODE) ?? [];
  const more = (values.get(LOAD) ?? []).map((taken, index) => taken - (bare[index] ?? Number.NaN));
  const kilobytes = (await stat(entry)).size / 1000;
  return [
    measurementOf({
      id: LOAD,
      unit: 'ms over node.bare',
      goal: 'median ≤ 20 ms',
      values: more,
      baseline: { id: BARE_NODE, values: bare },
    }),
    measurementOf({
      id: SIZE,
      unit: 'KB',
      goal: `median ≤ ${MAX_KB} KB`,
      values: [kilobytes],
      baseline: { id: 'entry.size.limit', values: [MAX_KB] },
    }),
  ];
}
