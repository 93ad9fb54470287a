import { expect, it } from 'vitest';
import type { JobResult } from '../../src/contracts/jobs/result.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { createFleetRunner } from '../../src/sandboxes/fleet/fleet-runner.ts';
import { listFleet } from '../../src/sandboxes/fleet/list-fleet.ts';
import { createLocalRunner } from '../../src/sandboxes/local/local-runner.ts';
import type { Runner, SandboxSpec } from '../../src/sandboxes/runner.ts';
import { createFleetWorker } from '../../src/worker/fleet-worker.ts';
import { describeWith } from '../fixtures/describe-with.ts';
import { MISSING_REDIS, startRedis } from '../fixtures/fleet/redis.ts';
import { BEST_LEVEL } from '../fixtures/levels.ts';
import { until } from '../fixtures/until.ts';

const MISSING = MISSING_REDIS ?? (BEST_LEVEL === 'namespace' ? undefined : 'level namespace is missing');
const JOBS = 20;

/** A runner on a disk that is full for some sandboxes. */
function onDisk(isFull: (spec: Pick<SandboxSpec, 'limits'> | undefined) => boolean): Runner {
  const runner = createLocalRunner();
  return {
    ...runner,
    async start(spec, options) {
      if (isFull(spec)) throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
      return await runner.start(spec, options);
    },
    async probe(options) {
      const reports = await runner.probe(options);
      return isFull(undefined) ? reports.map((each) => ({ ...each, available: false, reasons: ['ENOSPC'] })) : reports;
    },
  };
}

describeWith('a worker whose host starts no sandbox', MISSING, () => {
  it('leaves the demands to others, at no cost of an attempt, until its host starts sandboxes again', async () => {
    await using redis = await startRedis();
    let isFull = false;
    const join = async (name: string, runner: Runner): ReturnType<typeof createFleetWorker> =>
      await createFleetWorker({ url: await redis.workerUrl(name), name, runner, slots: 4 });
    await using _one = await join(
      'one',
      onDisk(() => isFull),
    );
    await using orchestrator = createOrchestrator({
      runners: [createFleetRunner({ url: redis.url, levels: ['namespace'], emptyFleet: 'wait' })],
    });
    const exec = async (): Promise<JobResult> => await orchestrator.exec({ code: 'console.log(42)' });
    expect((await exec()).worker).toBe('one');
    isFull = true;
    await using _two = await join('two', createLocalRunner());
    const results = await Promise.all(Array.from({ length: JOBS }, exec));
    expect(results.map(({ outcome, worker, attempt }) => `${outcome} ${worker} ${attempt}`)).toEqual(
      results.map(() => 'succeeded two 1'),
    );
    // It has failed at least once, and says that it takes nothing.
    const isDraining = async (): Promise<boolean | undefined> =>
      (await listFleet({ url: redis.url })).workers.find(({ name }) => name === 'one')?.draining;
    await until(async () => (await isDraining()) === true, 'the row of the worker', 30_000);

    isFull = false;
    await until(async () => (await isDraining()) === false, 'the recovery of the worker', 30_000);
    await until(async () => (await exec()).worker === 'one', 'a job at the worker', 30_000);
  }, 120_000);

  it('goes on if only the sandbox of one demand does not start', async () => {
    await using redis = await startRedis();
    const runner = onDisk((spec) => spec?.limits.memoryMib === 100);
    await using _one = await createFleetWorker({ url: await redis.workerUrl('one'), name: 'one', runner, slots: 1 });
    await using orchestrator = createOrchestrator({
      runners: [createFleetRunner({ url: redis.url, levels: ['namespace'] })],
    });
    await expect(orchestrator.exec({ code: '1', limits: { memoryMib: 100 } })).rejects.toMatchObject({
      code: 'sandbox.start-failed',
      message: expect.stringContaining('ENOSPC') as unknown,
    });
    expect((await orchestrator.exec({ code: 'console.log(42)' })).worker).toBe('one');
    const [row] = (await listFleet({ url: redis.url })).workers;
    expect(row?.draining).toBe(false);
  }, 60_000);
});
