import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aclLine, clientRights, workerRights } from '../../../src/sandboxes/fleet/fleet-acl.ts';
import { drainKey, KEY_PREFIX, workerKey, WORKERS_KEY } from '../../../src/sandboxes/fleet/fleet-keys.ts';
import { describeWith } from '../../fixtures/describe-with.ts';
import { ENROLLED_BUILD, enrolWorker } from '../../fixtures/fleet/enrol-worker.ts';
import { MISSING_REDIS, type RedisServer, startRedis } from '../../fixtures/fleet/redis.ts';
import { writeFleetFile } from '../../fixtures/fleet/worker-command.ts';
import { freePort } from '../../fixtures/free-port.ts';
import { type MainRun, runMain, startMain } from '../../fixtures/run-main.ts';
import { until } from '../../fixtures/until.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skillcell-fleet-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describeWith('skillcell fleet', MISSING_REDIS, () => {
  let redis: RedisServer;
  let file: string;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(async () => await redis[Symbol.asyncDispose]());
  beforeEach(() => {
    file = writeFleetFile(folder, redis.url);
  });
  afterEach(() => asAdmin((admin) => admin.flushall()));

  async function asAdmin<T>(use: (admin: ReturnType<RedisServer['admin']>) => Promise<T>): Promise<T> {
    const admin = redis.admin();
    return await use(admin).finally(() => admin.disconnect());
  }
  const enrol = (name: string, more: object = {}): Promise<void> => enrolWorker(redis, name, more);
  const fleet = (...argv: string[]): Promise<MainRun> => runMain(['fleet', ...argv, '--fleet-file', file]);

  it('list says that no worker is there', async () => {
    expect(await fleet('list')).toEqual({ code: 0, stdout: 'No worker is in the fleet.\n', stderr: '' });
    const { stdout } = await fleet('list', '--json');
    expect(JSON.parse(stdout)).toEqual({ workers: [], queues: [] });
  });

  it('list shows workers, and the demands that wait for them', async () => {
    await enrol('a');
    await enrol('b', { draining: true, queue: 'gpu', isolation: 'container', running: 0 });
    await asAdmin(async (admin) => {
      await admin.sadd(WORKERS_KEY, 'gone', 'not a name');
      const queue = `${KEY_PREFIX}:default.namespace.${ENROLLED_BUILD}`;
      const job = (timestamp: number): Record<string, string | number> => ({
        ...{ name: 'sandbox', data: '{}', opts: '{}', delay: 0, priority: 0, timestamp },
      });
      await admin.hset(`${queue}:first`, job(Date.now() - 90_000));
      await admin.hset(`${queue}:second`, job(Date.now()));
      await admin.lpush(`${queue}:wait`, 'first', 'second');
    });
    const { code, stdout } = await fleet('list');
    expect(code).toBe(0);
    expect(stdout.replaceAll(/\d+\.\d s/g, 'N s')).toBe(`WORKER  QUEUE    LEVEL      BUILD     RUNNING  BEAT
a       default  namespace  01234567  1/4      N s
b       gpu      container  01234567  0/4      N s  draining

QUEUE    LEVEL      BUILD     WAITING  OLDEST
default  namespace  01234567  2        N s
gpu      container  01234567  0        -
`);
    const { workers, queues } = JSON.parse((await fleet('list', '--json')).stdout) as {
      workers: { name: string; beatMs: number }[];
      queues: { oldestMs: number }[];
    };
    expect(workers.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(workers[0]?.beatMs).toBeLessThan(15_000);
    expect(queues[0]?.oldestMs).toBeGreaterThanOrEqual(90_000);
  });

  it('drain asks a worker, and returns when it says so', async () => {
    await enrol('a');
    const running = startMain(['fleet', 'drain', 'a', '--fleet-file', file]);
    await until(() => asAdmin(async (admin) => (await admin.ttl(drainKey('a'))) > 3_500), 'the question');
    await enrol('a', { draining: true, running: 2 });
    expect(await running.done).toMatchObject({
      ...{ code: 0, stdout: 'worker a takes no further demand; 2 sandboxes run\n' },
    });
  });

  it('drain returns when the worker has left', async () => {
    await enrol('a');
    const running = startMain(['fleet', 'drain', 'a', '--fleet-file', file, '--json']);
    await until(() => asAdmin(async (admin) => (await admin.exists(drainKey('a'))) === 1), 'the question');
    await asAdmin((admin) => admin.del(workerKey('a')));
    const { code, stdout } = await running.done;
    expect([code, JSON.parse(stdout)]).toEqual([0, { worker: 'a', running: 0 }]);
  });

  it('drain is interrupted', async () => {
    await enrol('a');
    const running = startMain(['fleet', 'drain', 'a', '--fleet-file', file]);
    await until(() => asAdmin(async (admin) => (await admin.exists(drainKey('a'))) === 1), 'the question');
    running.signal('SIGINT');
    expect((await running.done).code).toBe(130);
  });

  it('drain fails for a worker that does not answer', async () => {
    await enrol('a');
    const { code, stderr } = await fleet('drain', 'a');
    expect([code, stderr]).toEqual([3, expect.stringContaining('it did not answer within 20 s')]);
  });

  it('drain names the workers where there is no such one', async () => {
    const alone = await fleet('drain', 'a');
    expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining('the fleet has no worker')]);
    await enrol('b');
    const { code, stderr } = await fleet('drain', 'a');
    expect([code, stderr]).toEqual([2, expect.stringContaining('the fleet has only b')]);
    expect(await asAdmin((admin) => admin.exists(drainKey('a')))).toBe(0);
  });

  it.each([['list'], ['drain', 'a']])('%s ends with 3 when Redis refuses or is missing', async (...argv) => {
    const worker = writeFleetFile(folder, await redis.workerUrl('a'), 'worker');
    const refused = await runMain(['fleet', ...argv, '--fleet-file', worker, '--json']);
    expect([refused.code, JSON.parse(refused.stdout).error.code]).toEqual([3, 'fleet.refused']);
    const gone = writeFleetFile(folder, `redis://127.0.0.1:${await freePort()}`, 'gone');
    const missing = await runMain(['fleet', ...argv, '--fleet-file', gone, '--json']);
    expect([missing.code, JSON.parse(missing.stdout).error.code]).toEqual([3, 'fleet.unavailable']);
  });
});

describe('skillcell fleet', () => {
  it('acl prints the rights of a worker and of clients', async () => {
    const worker = await runMain(['fleet', 'acl', '--worker', 'a', '--queue', 'one', '--queue', 'two']);
    const line = aclLine('fleet-worker-a', workerRights('a', ['one', 'two']));
    expect(worker).toMatchObject({
      code: 0,
      stdout: `${line}\n`,
      stderr: expect.stringContaining('fleet-worker-a on >'),
    });
    const client = await runMain(['fleet', 'acl', '--client', '--json']);
    expect(JSON.parse(client.stdout)).toEqual({
      user: 'fleet-client',
      line: aclLine('fleet-client', clientRights()),
    });
  });

  it.each([
    [['acl'], '--worker'],
    [['acl', '--worker', 'a', '--client'], '--client'],
    [['acl', '--client', '--queue', 'a'], '--queue'],
    [['acl', '--worker', 'A'], '--worker: it must be 1 to 32 of a-z, 0-9 and -'],
    [['acl', '--worker', '*'], '--worker'],
    [['acl', '--worker', 'a', '--queue', 'a.b'], '--queue'],
    [['list'], '--fleet-file'],
    [['drain'], 'it needs NAME'],
    [['drain', 'a.b'], 'NAME: it must be 1 to 32'],
    [['drain', 'a'], '--fleet-file'],
  ])('%j ends with 2', async (argv, message) => {
    const { code, stderr } = await runMain(['fleet', ...argv]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});
