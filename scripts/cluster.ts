/**
 * Runs a whole fleet, each process in a network of its own, under random faults, and checks from outside that each accepted job has one right end and
 * nothing is left: `npm run cluster -- [--workers 4] [--clients 2] [--kills 100] [--seed N] [--seconds N]`, as root.
 */
import { parseArgs } from 'node:util';
import { MISSING_FAKETIME } from '../test/chaos/cluster/clock.ts';
import { CLUSTER_FAULTS, type ClusterFault } from '../test/chaos/cluster/cluster-faults.ts';
import { runCluster } from '../test/chaos/cluster/cluster-referee.ts';
import { missingNetwork } from '../test/chaos/cluster/network.ts';
import { MISSING_REDIS } from '../test/fixtures/fleet/redis.ts';
import { ensureRuntime } from '../src/sandboxes/runtime-bundle.ts';

const { values } = parseArgs({
  options: {
    workers: { type: 'string', default: '4' },
    clients: { type: 'string', default: '2' },
    kills: { type: 'string', default: '100' },
    seed: { type: 'string', default: `${Date.now() % 1_000_000}` },
    seconds: { type: 'string' },
    only: { type: 'string', multiple: true },
  },
});
const [workers, clients, kills, seed] = [values.workers, values.clients, values.kills, values.seed].map(Number) as [
  number,
  number,
  number,
  number,
];
const seconds = values.seconds === undefined ? undefined : Number(values.seconds);
const faults = values.only as ClusterFault[] | undefined;
const isUsable =
  [workers, clients, seconds ?? 1].every((value) => Number.isSafeInteger(value) && value > 0) &&
  [kills, seed].every((value) => Number.isSafeInteger(value) && value >= 0) &&
  (faults ?? []).every((kind) => CLUSTER_FAULTS.includes(kind));
const say = (line: string): void => void process.stderr.write(`${line}\n`);
if (!isUsable) {
  say(
    'Cannot start: the usage is `npm run cluster -- [--workers N] [--clients N] [--kills N] [--seed N] [--seconds N]`,',
  );
  say(`and \`--only KIND\`, more than once, of ${CLUSTER_FAULTS.join(', ')}.`);
  process.exit(2);
}
const missing = MISSING_REDIS ?? MISSING_FAKETIME ?? missingNetwork();
if (missing !== undefined) {
  say(`Cannot start: this machine lacks ${missing}.`);
  process.exit(3);
}
await ensureRuntime();
say(`${workers} workers, ${clients} clients, seed ${seed}`);
const {
  folder,
  planted: _,
  ...report
} = await runCluster({
  ...{ workers, clients, kills, seed, seconds, onProgress: say },
  ...(faults && { faults }),
});
process.stdout.write(`${JSON.stringify({ workers, clients, seed, ...report }, null, 2)}\n`);
if (report.violations.length > 0) {
  say(`${report.violations.length} violations; histories and logs are in ${folder}`);
  process.exitCode = 1;
}
