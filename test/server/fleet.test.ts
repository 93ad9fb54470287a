import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { drainKey } from '../../src/sandboxes/fleet/fleet-keys.ts';
import { clientRights, CLIENT_USER } from '../../src/sandboxes/fleet/fleet-acl.ts';
import { describeWith } from '../fixtures/describe-with.ts';
import { enrolWorker } from '../fixtures/fleet/enrol-worker.ts';
import { MISSING_REDIS, type RedisServer, startRedis } from '../fixtures/fleet/redis.ts';
import { writeFleetFile } from '../fixtures/fleet/worker-command.ts';
import { startWorkerProcess } from '../fixtures/fleet/worker-process.ts';
import { requireLevel } from '../fixtures/levels.ts';
import { startServeProcess } from '../fixtures/serve-process.ts';
import { type Answer, type ServiceScene, startService } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

const DRAIN = '/fleet/workers/one/drain';

describeWith('the fleet of a service', MISSING_REDIS, () => {
  let redis: RedisServer;
  let scene: ServiceScene;
  beforeAll(async () => {
    redis = await startRedis();
    scene = await startService({ fleet: { url: redis.url } });
  });
  afterAll(async () => {
    await scene[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
  });
  beforeEach(() => asAdmin((admin) => admin.flushall()));

  async function asAdmin<T>(use: (admin: ReturnType<RedisServer['admin']>) => Promise<T>): Promise<T> {
    const admin = redis.admin();
    return await use(admin).finally(() => admin.disconnect());
  }
  /** The answer of a fleet that cannot be used, without any secret of its address. */
  const refusal = ({ status, json, text, headers }: Answer): unknown[] => {
    expect(text).not.toContain(new URL(redis.url).password);
    return [status, json.code, headers.get('retry-after')];
  };

  it('is for admins alone, and a token that reads drains nothing', async () => {
    await enrolWorker(redis, 'one');
    const { token: viewer } = await scene.user('watcher', 'viewer');
    const { token: member } = await scene.user('ada');
    const { json: reading } = await scene.call('/tokens', { body: { name: 'reads', readOnly: true } });
    for (const [token, listed, drained] of [
      [null, 401, 401],
      [member, 403, 403],
      [viewer, 403, 403],
      [reading.token, 200, 403],
    ] as const) {
      const list = await scene.call('/fleet', { token });
      expect([list.status, list.text.includes('"name":"one"')]).toEqual([listed, listed === 200]);
      expect((await scene.call(DRAIN, { token, method: 'POST' })).status).toBe(drained);
    }
    expect(await asAdmin((admin) => admin.exists(drainKey('one')))).toBe(0);
  });

  it('is missing without one, and the answer says how to have one', async () => {
    await using without = await startService();
    const { token } = await without.user('ada');
    for (const [path, method] of [
      ['/fleet', 'GET'],
      [DRAIN, 'POST'],
    ] as const) {
      const { status, json } = await without.call(path, { method });
      expect([status, json.code]).toEqual([404, 'resource.not-found']);
      expect(json.detail).toContain('without one');
      expect(json.hint).toContain('--fleet-file');
      // Whether there is a fleet is no news for others.
      expect((await without.call(path, { method, token })).status).toBe(403);
    }
  });

  it('has workers with their beats, and the demands that wait', async () => {
    await enrolWorker(redis, 'one', { running: 3 });
    await enrolWorker(redis, 'two', { draining: true, queue: 'gpu', isolation: 'container' });
    const { json } = await scene.call('/fleet');
    expect(json.workers).toEqual([
      expect.objectContaining({ name: 'one', isolation: 'namespace', running: 3, slots: 4, draining: false }),
      expect.objectContaining({ name: 'two', queue: 'gpu', isolation: 'container', draining: true }),
    ]);
    expect(json.queues).toMatchObject([
      { queue: 'default', waiting: 0, oldestMs: null },
      { queue: 'gpu', waiting: 0, oldestMs: null },
    ]);
  });

  it('drains a worker, which ends then, and the log has the change with its user', async (context) => {
    requireLevel(context, 'namespace');
    await using worker = await startWorkerProcess(await redis.workerUrl('real'), 'real');
    const { json: user } = await scene.call('/users', { body: { name: 'second', role: 'admin' } });
    const path = '/fleet/workers/real/drain';
    const { status, json } = await scene.call(path, { method: 'POST', token: user.token.token });
    expect([status, json]).toEqual([200, { worker: 'real', running: 0 }]);
    expect(await worker.ended).toBe(0);
    expect((await scene.call('/fleet')).json.workers).toEqual([]);
    const changes = scene.log.map((line) => JSON.parse(line)).filter(({ route = '' }) => route.endsWith('/drain'));
    expect(changes.at(-1)).toMatchObject({ msg: 'change', user: user.user.id, params: { name: 'real' }, status: 200 });
    expect(scene.log.join('')).not.toContain(new URL(redis.url).password);
    expect((await scene.call(path, { method: 'POST' })).json.code).toBe('resource.not-found');
  });

  it.for(['none', 'NOT%20A%20NAME', '..%2Fone', '%00', 'x'.repeat(90)])('has no worker %s to drain', async (name) => {
    await enrolWorker(redis, 'one');
    const { status, json } = await scene.call(`/fleet/workers/${name}/drain`, { method: 'POST' });
    expect([status, json.code]).toEqual([404, 'resource.not-found']);
    expect(await asAdmin((admin) => admin.keys('*drain*'))).toEqual([]);
  });

  it('is unavailable while Redis is away or stands still, and there again after it', async () => {
    await enrolWorker(redis, 'one');
    process.kill(redis.pid(), 'SIGSTOP');
    const still = await Promise.all([scene.call('/fleet'), scene.call(DRAIN, { method: 'POST' })]);
    process.kill(redis.pid(), 'SIGCONT');
    await redis.stop();
    const away = await Promise.all([scene.call('/fleet'), scene.call(DRAIN, { method: 'POST' })]);
    for (const answer of [...still, ...away]) expect(refusal(answer)).toEqual([503, 'fleet.unavailable', '1']);
    // The service itself goes on.
    expect((await scene.call('/readyz')).status).toBe(200);
    await redis.start();
    expect((await scene.call('/fleet')).json.workers).toEqual([]);
  }, 60_000);

  it('is refused without rights', async () => {
    await redis.allow(CLIENT_USER, []);
    const answers = await Promise.all([scene.call('/fleet'), scene.call(DRAIN, { method: 'POST' })]);
    await redis.allow(CLIENT_USER, clientRights());
    for (const answer of answers) expect(refusal(answer)).toEqual([503, 'fleet.refused', '1']);
    expect((await scene.call('/fleet')).status).toBe(200);
  });

  it('is that of the flag of serve', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'skillcell-fleet-'));
    await enrolWorker(redis, 'one');
    await using serve = await startServeProcess(['--fleet-file', writeFleetFile(folder, redis.url)]);
    rmSync(folder, { recursive: true });
    const { status, json } = await serve.call('/fleet');
    expect([status, json.workers[0].name]).toEqual([200, 'one']);
    await using without = await startServeProcess();
    expect((await without.call('/fleet')).status).toBe(404);
  }, 60_000);

  it('ends its waits with the service', async () => {
    await enrolWorker(redis, 'silent');
    const own = await startService({ fleet: { url: redis.url } });
    const asked = own.call('/fleet/workers/silent/drain', { method: 'POST' }).catch((error: Error) => error);
    await until(() => asAdmin(async (admin) => (await admin.exists(drainKey('silent'))) === 1), 'the question');
    await own[Symbol.asyncDispose]();
    const answer = await asked;
    if (!(answer instanceof Error)) expect([answer.status, answer.json.code]).toEqual([503, 'service.unavailable']);
    else expect(answer.message).toContain('fetch failed');
  });
});
