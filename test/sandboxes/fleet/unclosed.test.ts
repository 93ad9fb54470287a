import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../fixtures/describe-with.ts';
import { MISSING_REDIS, type RedisServer, startRedis } from '../../fixtures/fleet/redis.ts';
import { startWorkerProcess, type WorkerProcess } from '../../fixtures/fleet/worker-process.ts';
import { freePort } from '../../fixtures/free-port.ts';
import { BEST_LEVEL } from '../../fixtures/levels.ts';

const MISSING = MISSING_REDIS ?? (BEST_LEVEL === 'namespace' ? undefined : 'level namespace is missing');
const PROGRAM = fileURLToPath(new URL('../../fixtures/fleet/unclosed-program.ts', import.meta.url));

describeWith('an orchestrator with a fleet that no one closes', MISSING, () => {
  let redis: RedisServer;
  let worker: WorkerProcess;
  beforeAll(async () => {
    redis = await startRedis();
    worker = await startWorkerProcess(await redis.workerUrl('one'), 'one');
  }, 60_000);
  afterAll(async () => {
    await worker[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
  });

  /** The output of a program that ends by itself; a program that does not is killed, and fails. */
  const run = async (url: string, use: string): Promise<string> =>
    (await promisify(execFile)(process.execPath, [PROGRAM, url, use], { timeout: 60_000 })).stdout;

  it.each([
    ['without any use', 'none', 'over\n'],
    ['after a look at its levels', 'probe', 'true\nover\n'],
    ['after jobs', 'jobs', '1,2\nover\n'],
  ])(
    'its process ends: %s',
    async (_when, use, output) => {
      expect(await run(redis.url, use)).toBe(output);
    },
    90_000,
  );

  it.each([
    ['a look at its levels', 'probe', 'false\nover\n'],
    ['a job', 'failing job', 'fleet.unavailable\nover\n'],
  ])(
    'its process ends without Redis, after %s',
    async (_when, use, output) => {
      expect(await run(`redis://127.0.0.1:${await freePort()}`, use)).toBe(output);
    },
    90_000,
  );
});
