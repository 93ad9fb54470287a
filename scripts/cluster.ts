/**
 * Runs a whole fleet, each process in a network of its own, under random faults, and checks from outside that each accepted job has one right end and
 * nothing is left: `npm run cluster -- [--workers 4] [--clients 2] [--replicas 0] [--kills 100] [--seed N] [--seconds N]
 * [--runner local|docker]`, as root.
 */
import { parseArgs } from 'node:util';
import { MISSING_FAKETIME } from '../test/chaos/cluster/clock.ts';
import type { ClusterRunner } from '../test/chaos/cluster/cluster-process.ts';
import { type AnyFault, faultsOf, runCluster } from '../test/chaos/cluster/cluster-referee.ts';
import { missingNetwork } from '../test/chaos/cluster/network.ts';
import { MISSING_CEPH } from '../test/fixtures/ceph.ts';
import { MISSING_REDIS } from '../test/fixtures/fleet/redis.ts';
import { MISSING_POSTGRES } from '../test/fixtures/postgres.ts';
import { connectEngine } from '../src/sandboxes/docker/engine/engine.ts';
import { ensureRuntime } from '../src/sandboxes/runtime-bundle.ts';
import { ensureImage } from './ensure-image.ts';

const { values } = parseArgs({
  options: {
    workers: { type: 'string', default: '4' },
    clients: { type: 'string', default: '2' },
    replicas: { type: 'string', default: '0' },
    kills: { type: 'string', default: '100' },
    seed: { type: 'string', default: `${Date.now() % 1_000_000}` },
    seconds: { type: 'string' },
    runner: { type: 'string', default: 'local' },
    only: { type: 'string', multiple: true },
  },
});
const counts = [values.workers, values.clients, values.kills, values.seed, values.replicas].map(Number);
const [workers, clients, kills, seed, replicas] = counts as [number, number, number, number, number];
const seconds = values.seconds === undefined ? undefined : Number(values.seconds);
const faults = values.only as AnyFault[] | undefined;
const runner = values.runner as ClusterRunner;
const kinds = faultsOf({ replicas, runner });
const isUsable =
  [workers, seconds ?? 1].every((value) => Number.isSafeInteger(value) && value > 0) &&
  [clients, kills, seed, replicas].every((value) => Number.isSafeInteger(value) && value >= 0) &&
  ['local', 'docker'].includes(runner) &&
  (faults ?? []).every((kind) => kinds.includes(kind));
const say = (line: string): void => void process.stderr.write(`${line}\n`);
if (!isUsable) {
  say(
    'Cannot start: the usage is `npm run cluster -- [--workers N] [--clients N] [--replicas N] [--kills N] [--seed N] [--seconds N]`,',
  );
  say(`\`--runner local|docker\`, and \`--only KIND\`, more than once, of ${kinds.join(', ')}.`);
  process.exit(2);
}
const missingServers = replicas > 0 ? (MISSING_CEPH ?? MISSING_POSTGRES) : undefined;
const missing = MISSING_REDIS ?? MISSING_FAKETIME ?? missingServers ?? missingNetwork();
if (missing !== undefined) {
  say(`Cannot start: this machine lacks ${missing}.`);
  process.exit(3);
}
const bundle = await ensureRuntime();
if (runner === 'docker') await ensureImage(await connectEngine(), bundle, say);
say(`${workers} workers, ${clients} clients, ${replicas} replicas, seed ${seed}`);
const {
  folder,
  planted: _,
  ...report
} = await runCluster({
  ...{ workers, clients, replicas, runner, kills, seed, seconds, onProgress: say },
  ...(faults && { faults }),
});
process.stdout.write(`${JSON.stringify({ workers, clients, replicas, seed, ...report }, null, 2)}\n`);
if (report.violations.length > 0) {
  say(`${report.violations.length} violations; histories and logs are in ${folder}`);
  process.exitCode = 1;
}
