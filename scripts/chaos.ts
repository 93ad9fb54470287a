/**
 * Kills hosts at random points and checks from outside that no job is lost or run twice and no leftovers remain: `npm run chaos -- --kills 200
 * [--seed N] [--runner local|docker|both] [--by-fleet]`. With `--by-fleet`, the sandboxes are on the worker of a fleet. With `--service
 * sqlite|postgres|both`, the hosts are `skillcell serve` under load over HTTP.
 */
import { parseArgs } from 'node:util';
import { startPostgres } from '../test/fixtures/postgres.ts';
import { type ChaosReport, runChaos } from '../test/chaos/referee.ts';
import { runServiceChaos, type ServiceChaosReport } from '../test/chaos/service/service-referee.ts';
import type { ChaosRunner } from '../test/chaos/host-words.ts';
import { connectEngine } from '../src/sandboxes/docker/engine/engine.ts';
import { ensureRuntime } from '../src/sandboxes/runtime-bundle.ts';
import { ensureImage } from './ensure-image.ts';

const RUNNERS = ['local', 'docker', 'both'];
const DATABASES = ['sqlite', 'postgres', 'both'];
const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    seed: { type: 'string', default: `${Date.now() % 1_000_000}` },
    runner: { type: 'string' },
    service: { type: 'string' },
    'by-fleet': { type: 'boolean', default: false },
  },
});
const kills = Number(values.kills);
const seed = Number(values.seed);
const { service, 'by-fleet': byFleet } = values;
const { runner = byFleet ? 'local' : 'both' } = values;
const isUsable =
  Number.isSafeInteger(kills) &&
  kills > 0 &&
  Number.isSafeInteger(seed) &&
  RUNNERS.includes(runner) &&
  !(byFleet && runner === 'both');
if (!isUsable || (service !== undefined && (!DATABASES.includes(service) || values.runner !== undefined || byFleet))) {
  process.stderr.write(
    'Cannot start: the usage is `npm run chaos -- --kills N [--seed N] [--runner local|docker|both | --by-fleet [--runner local|docker] | --service sqlite|postgres|both]`.\n',
  );
  process.exit(2);
}
const say = (line: string): void => void process.stderr.write(`${line}\n`);
if (service === undefined) await killHosts(runner as ChaosRunner);
else {
  await ensureRuntime();
  if (service !== 'postgres') await killServices('sqlite');
  if (service !== 'sqlite') await killServices('postgres');
}

async function killHosts(runnerOfJobs: ChaosRunner): Promise<void> {
  const bundle = await ensureRuntime();
  const engine = runnerOfJobs === 'local' ? undefined : await connectEngine();
  if (engine !== undefined) await ensureImage(engine, bundle, say);
  say(`runner ${runnerOfJobs}${byFleet ? ' of a worker' : ''}, seed ${seed}`);
  report(
    { runner: runnerOfJobs, byFleet },
    await runChaos({ kills, seed, runner: runnerOfJobs, byFleet, bundle, engine, onProgress: say }),
  );
}

async function killServices(database: 'sqlite' | 'postgres'): Promise<void> {
  say(`service with ${database}, seed ${seed}`);
  await using postgres = database === 'postgres' ? await startPostgres() : undefined;
  report({ database }, await runServiceChaos({ kills, seed, postgres, onProgress: say }));
}

/** Prints the result of a run; its folder only with violations. */
function report(of: object, { folder, ...result }: ChaosReport | ServiceChaosReport): void {
  process.stdout.write(`${JSON.stringify({ ...of, seed, ...result }, null, 2)}\n`);
  if (result.violations.length === 0) return;
  say(`${result.violations.length} violations; the remaining files are in ${folder}`);
  process.exitCode = 1;
}
