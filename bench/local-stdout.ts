import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { BenchmarkGroup, BenchmarkOptions } from './benchmark-group.ts';
import { measurementOf, type Measurement, type Taken } from './measurement.ts';
import { takeTurns } from './take-turns.ts';

/** The output of `stdout-gigabyte.ts`. */
export interface GigabyteReport {
  extraMib: number;
  mibPerSecond: number;
}

const ROUNDS = 3;
const script = fileURLToPath(new URL('stdout-gigabyte.ts', import.meta.url));
const MEMORY = { id: 'local.stdout1g', unit: 'MiB', goal: 'median ≤ 64 MiB' };
const THROUGHPUT = { id: 'local.stdout1g.throughput', unit: 'MiB/s', goal: null };

/** 1 GiB of stdout: memory of the host process, and throughput, against a plain pipe. */
export const localStdout: BenchmarkGroup = { ids: [MEMORY.id, THROUGHPUT.id], run };

async function run({ samples = ROUNDS, progress }: BenchmarkOptions): Promise<Measurement[]> {
  const reports: Record<'job' | 'pipe', GigabyteReport[]> = { job: [], pipe: [] };
  const subject = (way: 'job' | 'pipe') => ({
    id: way,
    async sample() {
      // In its own process, so that memory left by earlier work hides nothing.
      const { stdout } = await promisify(execFile)(process.execPath, [script, way]);
      const report = JSON.parse(stdout) as GigabyteReport;
      reports[way].push(report);
      progress(`${way}: ${report.mibPerSecond.toFixed(0)} MiB/s, ${report.extraMib.toFixed(1)} MiB more memory`);
      return 0;
    },
  });
  const taken = await takeTurns([subject('pipe'), subject('job')], samples, progress);
  const column = (way: 'job' | 'pipe', key: keyof GigabyteReport): Taken => {
    const turns = taken.get(way) ?? [];
    return 'failed' in turns ? turns : reports[way].map((report) => report[key]);
  };
  return [
    measurementOf({
      ...MEMORY,
      values: column('job', 'extraMib'),
      baseline: { id: 'pipe.stdout1g', values: column('pipe', 'extraMib') },
    }),
    measurementOf({
      ...THROUGHPUT,
      values: column('job', 'mibPerSecond'),
      baseline: { id: 'pipe.stdout1g.throughput', values: column('pipe', 'mibPerSecond') },
    }),
  ];
}
