/**
 * Sends malformed input to the code that reads data of other processes, and compares the outcome with the allowed ones: `npm run fuzz -- --seconds 60
 * [--seed N] [--cases N]`. The seed of a failure and `--cases 1` repeat it.
 */
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { runFuzz } from '../test/fuzz/fuzz.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: `${Date.now() % 1_000_000}` },
    cases: { type: 'string' },
  },
});
const seconds = Number(values.seconds);
const seed = Number(values.seed);
const cases = values.cases === undefined ? undefined : Number(values.cases);
const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 1;
if (!isCount(seconds) || !Number.isSafeInteger(seed) || (cases !== undefined && !isCount(cases))) {
  process.stderr.write('Cannot start: the usage is `npm run fuzz -- --seconds N [--seed N] [--cases N]`.\n');
  process.exit(2);
}
// Memory is measured, so garbage must be collected first.
setFlagsFromString('--expose-gc');
globalThis.gc = runInNewContext('gc') as NonNullable<typeof globalThis.gc>;
const say = (line: string): void => void process.stderr.write(`${line}\n`);

say(`seed ${seed}`);
const { failures, ...report } = await runFuzz({ seed, seconds, cases, onProgress: say });
process.stdout.write(`${JSON.stringify({ seed, ...report, failures }, null, 2)}\n`);
for (const part of report.leftOut) say(`left out: ${part}`);
for (const failure of failures) say(`${failure.target}: npm run fuzz -- --seed ${failure.seed} --cases 1`);
// A hanging case would keep the process alive.
process.exit(failures.length > 0 ? 1 : 0);
