/** Measures the project's speed goals. Prints a table, or JSON; progress goes to stderr. */
import { parseArgs } from 'node:util';
import type { BenchmarkGroup, BenchmarkOptions } from './benchmark-group.ts';
import { SkillcellError } from '../src/contracts/errors/skillcell-error.ts';
import { GROUPS } from './groups.ts';
import { describeMachine } from './machine.ts';
import { failedMeasurement, failureOf, type Measurement } from './measurement.ts';
import { tableOf } from './print-table.ts';

const USAGE = `npm run -s bench -- [GROUP] [--json] [--samples N]

GROUP is one of ${Object.keys(GROUPS).join(', ')}; or the beginning of an id or a group name, up to a dot.
`;

process.exitCode = await main(process.argv.slice(2));

async function main(args: string[]): Promise<number> {
  if (args.includes('--help')) {
    process.stdout.write(USAGE);
    return 0;
  }
  let chosen: { group: string; json: boolean; samples: number | undefined };
  try {
    chosen = readArguments(args);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${USAGE}`);
    return 2;
  }
  const { group, json, samples } = chosen;
  const isNamed = (id: string): boolean => group === '' || id === group || id.startsWith(`${group}.`);
  const machine = describeMachine();
  const benchmarks: Measurement[] = [];
  for (const [name, load] of Object.entries(GROUPS)) {
    const { ids, run }: BenchmarkGroup = await load();
    const wants = (id: string): boolean => isNamed(name) || isNamed(id);
    if (!ids.some(wants)) continue;
    const progress = (text: string): void => void process.stderr.write(`${name}: ${text}\n`);
    const options: BenchmarkOptions = { samples, wants, progress };
    try {
      benchmarks.push(...(await run(options)).filter(({ id }) => wants(id)));
    } catch (error) {
      // Without a GROUP, benchmarks that need a missing engine are skipped.
      if (group === '' && SkillcellError.isInstance(error) && error.code === 'engine.unavailable') {
        progress(`left out: ${error.message}`);
        continue;
      }
      const { failed } = failureOf(error);
      progress(`failed: ${failed}`);
      benchmarks.push(...ids.filter(wants).map((id) => failedMeasurement(id, failed)));
    }
  }
  if (benchmarks.length === 0) {
    process.stderr.write(`Cannot measure: no benchmark has this name, got ${group}.\n\n${USAGE}`);
    return 2;
  }
  process.stdout.write(json ? `${JSON.stringify({ machine, benchmarks }, null, 2)}\n` : tableOf(machine, benchmarks));
  return benchmarks.some(({ failed }) => failed !== undefined) ? 1 : 0;
}

function readArguments(args: string[]): { group: string; json: boolean; samples: number | undefined } {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { json: { type: 'boolean', default: false }, samples: { type: 'string' } },
  });
  if (positionals.length > 1) throw new Error(`Cannot measure: one group at a time, got ${positionals.join(' ')}.`);
  const samples = values.samples === undefined ? undefined : Number(values.samples);
  if (samples !== undefined && !(Number.isSafeInteger(samples) && samples > 0)) {
    throw new Error(`Cannot measure: --samples is a whole number above 0, got ${values.samples}.`);
  }
  return { group: positionals[0] ?? '', json: values.json, samples };
}
