import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { bundleForSandbox } from '../scripts/build-runtime.ts';
import { DEFAULT_CONSUMER } from '../src/contracts/jobs/job.ts';
import { exportRuntimeGlobals } from '../src/skills/index.ts';
import type { BenchmarkGroup, BenchmarkOptions } from './benchmark-group.ts';
import { fiveSkills } from './generate-skills.ts';
import { measurementOf, type Measurement } from './measurement.ts';
import type { RebuildInput, RebuildReport } from './rebuild-once.ts';
import { takeTurns } from './take-turns.ts';

const COLD = 'skills.rebuild5';
const UNCOMPILED = 'skills.rebuild5.uncompiled';
const WARM = 'skills.rebuild5.warm';
const ROUNDS = 20;

/**
 * Rebuilding five skills from their bytes, with the code of a sandbox, each time in a new process: compiled ahead as at level namespace, and not
 * compiled as at other levels.
 */
export const skillsRebuild: BenchmarkGroup = { ids: [COLD, UNCOMPILED, WARM], run };

async function run({ samples = ROUNDS, progress }: BenchmarkOptions): Promise<Measurement[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-rebuild-'));
  const five = await fiveSkills();
  try {
    const input = join(folder, 'input.json');
    const start = join(folder, 'launch', 'start-entry.cjs');
    const compiled = join(folder, 'code-cache');
    await bundleForSandbox('bench/rebuild-once.ts', join(folder, 'entry.cjs'));
    await mkdir(compiled);
    await cp(fileURLToPath(new URL('../runtime/launch', import.meta.url)), join(folder, 'launch'), { recursive: true });
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
    const rebuild = async (...options: string[]): Promise<number> => {
      const { stdout } = await promisify(execFile)(process.execPath, [start, input, ...options]);
      const report = JSON.parse(stdout) as RebuildReport;
      warm.push(report.warmMs);
      return report.coldMs;
    };
    await rebuild(`--new-code-cache=${compiled}`);
    const subjects = [
      { id: 'hash.5', sample: hashing },
      { id: COLD, sample: () => rebuild(`--code-cache=${compiled}`) },
      { id: UNCOMPILED, sample: () => rebuild() },
    ];
    const values = await takeTurns(subjects, samples, progress);
    const baseline = { id: 'hash.5', values: values.get('hash.5') ?? [] };
    return [
      measurementOf({ id: COLD, unit: 'ms', goal: 'median ≤ 10 ms', values: values.get(COLD) ?? [], baseline }),
      measurementOf({ id: UNCOMPILED, unit: 'ms', goal: null, values: values.get(UNCOMPILED) ?? [], baseline }),
      measurementOf({ id: WARM, unit: 'ms', goal: null, values: warm, baseline }),
    ];
  } finally {
    await Promise.all([five.remove(), rm(folder, { recursive: true, force: true })]);
  }
}
