import { afterAll, beforeAll } from 'vitest';
import { createLocalRunner } from '../../../src/sandboxes/local/local-runner.ts';
import { createFleetRunner } from '../../../src/sandboxes/fleet/fleet-runner.ts';
import { createFleetWorker, type FleetWorker } from '../../../src/worker/fleet-worker.ts';
import { describeRunner } from '../../conformance/runner.ts';
import { describeWith } from '../../fixtures/describe-with.ts';
import { MISSING_REDIS, type RedisServer, startRedis } from '../../fixtures/fleet/redis.ts';
import { descendants, killProcess, sandboxLeftovers } from '../../fixtures/sandbox-leftovers.ts';

describeWith('a fleet of one worker', MISSING_REDIS, () => {
  let redis: RedisServer;
  let worker: FleetWorker;
  beforeAll(async () => {
    redis = await startRedis();
    worker = await createFleetWorker({
      url: await redis.workerUrl('one'),
      name: 'one',
      runner: createLocalRunner(),
      slots: 16,
    });
  }, 60_000);
  afterAll(async () => {
    await worker[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
  });

  describeRunner({
    name: 'fleet',
    isolation: 'namespace',
    create: () => createFleetRunner({ url: redis.url, emptyFleet: 'wait' }),
    leftovers: async () => sandboxLeftovers(),
    async breakSandbox() {
      for (const { pid, command } of descendants(process.pid))
        if (/\bentry\.cjs\b|\bbwrap\b/.test(command)) killProcess(pid);
    },
  });
});
