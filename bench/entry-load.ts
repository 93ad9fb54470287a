import { join } from 'node:path';
import { entryBytes } from '../scripts/build-runtime.ts';
import { ensureRuntime } from '../src/sandboxes/runtime-bundle.ts';
import { BARE_NODE, bareNode, timedNode } from './bare-node.ts';
import type { BenchmarkGroup, BenchmarkOptions } from './benchmark-group.ts';
import { measurementOf, type Measurement, type Taken } from './measurement.ts';
import { takeTurns } from './take-turns.ts';

const LOAD = 'entry.load';
const LOAD_SKILLS = 'entry.load.skills';
const SIZE = 'entry.size';
const ROUNDS = 40;

/** The entry's share of a Node start: the size of its files, and the time to load the parts that jobs need. */
export const entryLoad: BenchmarkGroup = { ids: [LOAD, LOAD_SKILLS, SIZE], run };

async function run({ samples = ROUNDS, progress }: BenchmarkOptions): Promise<Measurement[]> {
  const { folder } = await ensureRuntime();
  const entry = join(folder, 'entry.cjs');
  const subjects = [
    { id: BARE_NODE, sample: bareNode },
    { id: LOAD, sample: () => timedNode(['-e', jobProgram(entry)]) },
    { id: LOAD_SKILLS, sample: () => timedNode(['-e', skillsProgram(entry)]) },
  ];
  const values = await takeTurns(subjects, samples, progress);
  const bare = values.get(BARE_NODE) ?? [];
  const overBare = (taken: Taken): Taken =>
    'failed' in taken || 'failed' in bare ? taken : taken.map((each, index) => each - (bare[index] ?? Number.NaN));
  const kilobytes = (await entryBytes(folder)) / 1000;
  return [
    ...[LOAD, LOAD_SKILLS].map((id) =>
      measurementOf({
        id,
        unit: 'ms over node.bare',
        goal: id === LOAD ? 'ratio ≤ 0.45' : null,
        values: overBare(values.get(id) ?? []),
        baseline: { id: BARE_NODE, values: bare },
      }),
    ),
    measurementOf({
      id: SIZE,
      unit: 'KB',
      goal: null,
      values: [kilobytes],
      baseline: { id: 'entry.size.itself', values: [kilobytes] },
    }),
  ];
}

/** Loads the modules that every job needs: the entry refuses an unknown level after that, before it starts anything. */
function jobProgram(entry: string): string {
  return `process.argv = ['node', ${JSON.stringify(entry)}, '--level=bench'];
process.on('exit', (code) => { process.exitCode = code === 1 ? 0 : 2; });
require(${JSON.stringify(entry)});`;
}

/** Also loads the modules that read, check and render skills: without arguments the entry reports skills, here none. */
function skillsProgram(entry: string): string {
  return `process.argv = ['node', ${JSON.stringify(entry)}];
process.env = {};
process.on('exit', () => { process.exitCode = 0; });
require(${JSON.stringify(entry)});`;
}
