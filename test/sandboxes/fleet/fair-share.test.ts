import { expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../../src/contracts/jobs/limits.ts';
import { createFleetRunner } from '../../../src/sandboxes/fleet/fleet-runner.ts';
import { listFleet } from '../../../src/sandboxes/fleet/list-fleet.ts';
import type { Runner, Sandbox } from '../../../src/sandboxes/runner.ts';
import { sandboxLimits } from '../../../src/sandboxes/sandbox-limits.ts';
import { describeWith } from '../../fixtures/describe-with.ts';
import { MISSING_REDIS, startRedis } from '../../fixtures/fleet/redis.ts';
import { startWorkerProcess } from '../../fixtures/fleet/worker-process.ts';
import { BEST_LEVEL } from '../../fixtures/levels.ts';
import { until } from '../../fixtures/until.ts';

const MISSING = MISSING_REDIS ?? (BEST_LEVEL === 'namespace' ? undefined : 'level namespace is missing');
const QUEUED = 10_000;
/** Demands of one client that wait in the engine. */
const WINDOW = 8;
const SPEC = {
  isolation: 'namespace',
  language: 'javascript',
  limits: sandboxLimits(DEFAULT_LIMITS),
} as const;

describeWith('fair share of a fleet', MISSING, () => {
  it('a client with one job is served ninth at the latest, behind a client with 10,000', async () => {
    await using redis = await startRedis();
    await using many = createFleetRunner({ url: redis.url, emptyFleet: 'wait' });
    await using one = createFleetRunner({ url: redis.url, emptyFleet: 'wait' });
    await using worker = await startWorkerProcess(await redis.workerUrl('one'), 'one', { slots: 1 });
    const over = new AbortController();
    const order: string[] = [];
    const start = async (name: string, runner: Runner): Promise<Sandbox> => {
      const sandbox = await runner.start(SPEC, { signal: over.signal });
      order.push(name);
      return sandbox;
    };
    const waiting = async (): Promise<number> =>
      (await listFleet({ url: redis.url })).queues.reduce((sum, queue) => sum + queue.waiting, 0);

    // The only slot is taken until both have their place.
    const first = await start('first', many);
    const queued = Array.from({ length: QUEUED }, async () => {
      const sandbox = await start('many', many);
      await sandbox.kill('it has had its turn');
    });
    const ended = Promise.allSettled(queued);
    await until(async () => (await waiting()) === WINDOW, 'the demands of the first client', 60_000);
    const single = start('one', one);
    await until(async () => (await waiting()) === WINDOW + 1, 'the demand of the second client', 60_000);
    await first.kill('the others begin');
    await (await single).kill('it has had its turn');

    expect(order[0]).toBe('first');
    const before = order.slice(1, order.indexOf('one'));
    expect(before.length).toBeLessThanOrEqual(WINDOW);
    expect(new Set(before)).toEqual(new Set(['many']));
    over.abort();
    expect((await ended).filter(({ status }) => status === 'rejected').length).toBeGreaterThan(QUEUED - 100);
    expect(worker.name).toBe('one');
  }, 180_000);
});
