import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Isolation } from '../../../src/contracts/jobs/result.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { createDockerRunner } from '../../../src/sandboxes/docker/docker-runner.ts';
import { createFleetRunner } from '../../../src/sandboxes/fleet/fleet-runner.ts';
import { createLocalRunner } from '../../../src/sandboxes/local/local-runner.ts';
import type { Runner } from '../../../src/sandboxes/runner.ts';
import { createFleetWorker } from '../../../src/worker/fleet-worker.ts';
import { MISSING_CEPH, startCeph } from '../../fixtures/ceph.ts';
import { describeWith } from '../../fixtures/describe-with.ts';
import { dockerImage, MISSING_ENGINE } from '../../fixtures/docker-image.ts';
import { MISSING_REDIS, type RedisServer, startRedis } from '../../fixtures/fleet/redis.ts';
import { BEST_LEVEL } from '../../fixtures/levels.ts';
import { MISSING_POSTGRES, startPostgres } from '../../fixtures/postgres.ts';

const MISSING =
  MISSING_REDIS ??
  MISSING_POSTGRES ??
  MISSING_CEPH ??
  MISSING_ENGINE ??
  (BEST_LEVEL === 'namespace' ? undefined : 'level namespace is missing');
/** State of a listening socket in the tables of the kernel. */
const LISTENS = '0A';

describeWith('from inside a sandbox on a worker', MISSING, () => {
  const parts = new AsyncDisposableStack();
  let redis: RedisServer;
  let ports: { redis: number; postgres: number; s3: number };
  beforeAll(async () => {
    // A fleet on one host is the worst case: all servers listen beside the sandbox, one of them at every address.
    redis = parts.use(await startRedis('--bind', '0.0.0.0'));
    const postgres = parts.use(await startPostgres());
    const ceph = parts.use(await startCeph());
    ports = { redis: redis.port, postgres: portOf(postgres.url), s3: portOf(ceph.endpoint) };
  }, 120_000);
  afterAll(async () => await parts.disposeAsync(), 60_000);

  it.each<[Isolation, () => Promise<Runner>]>([
    ['namespace', async () => createLocalRunner()],
    ['container', async () => createDockerRunner({ bundle: (await dockerImage()).bundle })],
  ])(
    'neither Redis, PostgreSQL, S3 nor any other server of the host is reached: %s',
    async (isolation, create) => {
      const [url, name] = [await redis.workerUrl('one'), 'one'];
      await using worker = await createFleetWorker({ url, name, runner: await create(), isolation, slots: 1 });
      await using orchestrator = createOrchestrator({
        runners: [createFleetRunner({ url: redis.url, levels: [isolation], emptyFleet: 'wait' })],
      });
      const addresses = ownAddresses();
      const targets = [...new Set([...Object.values(ports), ...listeningPorts()])].flatMap((port) =>
        addresses.map((host): Target => [host, port]),
      );
      const code = programOf(targets);

      // The same program outside shows that they are there.
      const outside = JSON.parse(execFileSync(process.execPath, ['--input-type=module', '--eval', code], UTF8)) as Seen;
      for (const port of Object.values(ports)) expect(outside.reached).toContainEqual(['127.0.0.1', port]);
      for (const host of addresses.filter((each) => !each.includes(':')))
        expect(outside.reached).toContainEqual([host, ports.redis]);

      const { outcome, stdout, worker: ranAt } = await orchestrator.exec({ code, isolation });
      expect({ outcome, ranAt }).toEqual({ outcome: 'succeeded', ranAt: worker.name });
      expect(JSON.parse(stdout.text)).toEqual({ tried: targets.length, reached: [] });
    },
    120_000,
  );
});

const UTF8 = { encoding: 'utf8' } as const;

type Target = readonly [host: string, port: number];

interface Seen {
  tried: number;
  reached: Target[];
}

/** A program that connects to all of them, and prints those that answered. */
function programOf(targets: readonly Target[]): string {
  return `import { connect } from 'node:net';
const targets = ${JSON.stringify(targets)};
const answers = ([host, port]) => new Promise((resolve) => {
  const socket = connect({ host, port, timeout: 3000 });
  const end = (isReached) => (socket.destroy(), resolve(isReached));
  socket.once('connect', () => end(true)).once('error', () => end(false)).once('timeout', () => end(false));
});
const reached = [];
for (const target of targets) if (await answers(target)) reached.push(target);
console.log(JSON.stringify({ tried: targets.length, reached }));`;
}

/** All addresses of this machine; those of links need a zone. */
function ownAddresses(): string[] {
  return Object.entries(networkInterfaces()).flatMap(([device, rows]) =>
    (rows ?? []).map(({ address }) => (address.startsWith('fe80:') ? `${address}%${device}` : address)),
  );
}

/** The ports of this machine at which something listens. */
function listeningPorts(): number[] {
  return ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/net/${table}`, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state]) => state === LISTENS)
      .map(([, local = '']) => Number.parseInt(local.split(':').at(-1) ?? '', 16)),
  );
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}
