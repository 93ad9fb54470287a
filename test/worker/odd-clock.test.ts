import { expect, it } from 'vitest';
import { demandQueue, KEY_PREFIX, workerKey } from '../../src/sandboxes/fleet/fleet-keys.ts';
import { createLocalRunner } from '../../src/sandboxes/local/local-runner.ts';
import { createFleetWorker } from '../../src/worker/fleet-worker.ts';
import { describeWith } from '../fixtures/describe-with.ts';
import { enrolWorker } from '../fixtures/fleet/enrol-worker.ts';
import { MISSING_REDIS, startRedis } from '../fixtures/fleet/redis.ts';
import { BEST_LEVEL } from '../fixtures/levels.ts';
import { until } from '../fixtures/until.ts';

const MISSING = MISSING_REDIS ?? (BEST_LEVEL === 'namespace' ? undefined : 'level namespace is missing');
const HOUR_MS = 3_600_000;

describeWith('a worker whose Redis was set back by an hour', MISSING, () => {
  it('takes the place of a dead worker, and finds demands of dead workers, though no key expires', async () => {
    await using redis = await startRedis();
    const admin = redis.admin();
    await enrolWorker(redis, 'one');
    await admin.pexpire(workerKey('one'), HOUR_MS);
    const [url, name] = [await redis.workerUrl('one'), 'one'];
    await using worker = await createFleetWorker({ url, name, runner: createLocalRunner(), slots: 1 });
    expect(await admin.pttl(workerKey('one'))).toBeLessThan(HOUR_MS / 2);

    const check = `${KEY_PREFIX}:${demandQueue('default', 'namespace', worker.build)}:stalled-check`;
    await admin.set(check, 'a check before the change', 'PX', HOUR_MS);
    await until(async () => (await admin.get(check)) !== 'a check before the change', 'another check', 60_000);
    expect(await admin.pttl(check)).toBeLessThan(HOUR_MS / 2);
    admin.disconnect();
  }, 120_000);
});
