import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bundleForSandbox } from '../scripts/build-runtime.ts';
import { DEFAULT_CONSUMER } from '../src/contracts/job.ts';
import { exportRuntimeGlobals } from '../src/skills/index.ts';
import type { BenchmarkGroup, BenchmarkOptions } from './benchmark-group.ts';
import { fiveSkills } from './generate-skills.ts';
import { measurementOf, type Measurement } from './measurement.ts';
import type { RebuildInput, RebuildReport } from './rebuild-once.ts';
import { takeTurns } from './take-turns.ts';

const COLD = 'skills.rebuild5';
const WARM = 'skills.rebuild5.warm';
const ROUNDS = 20;

/** Rebuilding five skills from their bytes, by the code as a sandbox gets it, each time in a new process. */
export const skillsRebuild: BenchmarkGroup = { ids: [COLD, WARM], run };

async function run({ samples = ROUNDS, progress }: BenchmarkOptions): Promise<Measurement[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-rebuild-'));
  const five = await fiveSkills();
  try {
    const script = join(folder, 'rebuild-once.cjs');
    const input = join(folder, 'input.json');
    await bundleForSandbox('bench/rebuild-once.ts', script);
    const { descriptor, trees } = exportRuntimeGlobals(five.subsystem, { refs: five.ids, consumer: DEFAULT_CONSUMER });
    const files = [...trees].map(([id, tree]): RebuildInput['trees'][number] => [
      id,
      [...tree].map(([path, { bytes, executable }]) => [path, Buffer.from(bytes).toString('base64'), executable]),
    ]);
    await writeFile(input, JSON.stringify({ descriptor, trees: files } satisfies RebuildInput));
    const contents = [...trees.values()].flatMap((tree) => [...tree.values()].map(({ bytes }) => bytes));

    const warm: number[] = [];
    const hashing = (): Promise<number> => {
      const started = performance.now();
      for (const bytes of contents) createHash('sha256').update(bytes).digest('hex');
      return Promise.resolve(performance.now() - started);
    };
    const rebuild = async (): Promise<number> => {
      const { stdout } = await promisify(execFile)(process.execPath, [script, input]);
      const report = JSON.parse(stdout) as RebuildReport;
      warm.push(report.warmMs);
      return report.coldMs;
    };
    const subjects = [
      { id: 'hash.5', sample: hashing },
      { id: COLD, sample: rebuild },
    ];
    const values = await takeTurns(subjects, samples, progress);
    const baseline = { id: 'hash.5', values: values.get('hash.5') ?? [] };
    return [
      measurementOf({ id: COLD, unit: 'ms', goal: 'median ≤ 10 ms', values: values.get(COLD) ?? [], baseline }),
      measurementOf({ id: WARM, unit: 'ms', goal: null, values: warm, baseline }),
    ];
  } finally {
    await Promise.all([five.remove(), rm(folder, { recursive: true, force: true })]);
  }
}
