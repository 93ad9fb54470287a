import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../../src/jobs/orchestrator.ts';
import { createFleetRunner } from '../../src/sandboxes/fleet/fleet-runner.ts';
import { type ConsoleScene, startConsole } from '../fixtures/console.ts';
import { type Deferred, deferred } from '../fixtures/deferred.ts';
import { describeWith, MISSING_CHROMIUM } from '../fixtures/describe-with.ts';
import { MISSING_REDIS, type RedisServer, startRedis } from '../fixtures/fleet/redis.ts';
import { startWorkerProcess, type WorkerProcess } from '../fixtures/fleet/worker-process.ts';
import { requireLevel } from '../fixtures/levels.ts';
import { toolList } from '../fixtures/tool-list.ts';

/** Prints, and goes on when the test lets it. */
const CODE = `import { callTool } from 'skillcell';
console.log('begun');
await callTool('hold');
console.log('ended');`;
const PATIENCE = { timeout: 60_000 };

describeWith('a fleet in the console', MISSING_CHROMIUM ?? MISSING_REDIS, () => {
  let redis: RedisServer;
  let orchestrator: Orchestrator;
  let scene: ConsoleScene;
  let workers: WorkerProcess[] = [];
  let held: Deferred<void>;
  beforeAll(async () => {
    redis = await startRedis();
    const hold = {
      ...{ description: 'Waits.', effect: 'read' as const, timeoutMs: 120_000 },
      execute: async () => await held.promise,
    };
    const fleet = createFleetRunner({ url: redis.url, leaseMs: 2_000, emptyFleet: 'wait' });
    orchestrator = createOrchestrator({ runners: [fleet], tools: toolList([['hold', hold]]) });
    scene = await startConsole({
      fleet: { url: redis.url },
      start: (job, around) => orchestrator.stream(job as Parameters<Orchestrator['stream']>[0], around),
    });
  }, 60_000);
  beforeEach((context) => {
    requireLevel(context, 'namespace');
    held = deferred();
  });
  afterAll(async () => {
    await scene[Symbol.asyncDispose]();
    await orchestrator.close();
    for (const worker of workers) await worker[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
  }, 60_000);

  /** Starts workers that the fleet does not have yet. */
  async function haveWorkers(...names: string[]): Promise<void> {
    const missing = names.filter((name) => workers.every((worker) => worker.name !== name));
    const started = missing.map(async (name) => startWorkerProcess(await redis.workerUrl(name), name, { slots: 1 }));
    workers = [...workers, ...(await Promise.all(started))];
  }
  const workerOf = (name: string): WorkerProcess => {
    const found = workers.find((worker) => worker.name === name);
    if (found === undefined) throw new Error(`no worker ${name}`);
    return found;
  };
  async function submit(): Promise<string> {
    const { json } = await scene.service.call('/jobs', { body: { kind: 'exec', code: CODE, tools: ['hold'] } });
    return json.id;
  }

  it('shows that a job begins again on another worker while its page is open, and how it ends', async () => {
    await haveWorkers('left', 'right');
    const { page, faults } = await scene.open({ path: `/jobs/${await submit()}` });
    const output = page.getByRole('region', { name: 'Output' });
    await output.getByText('begun').waitFor(PATIENCE);
    const phase = page.getByRole('status').getByText('running at level namespace on worker');
    const first = /worker (\w+)$/.exec((await phase.textContent()) ?? '')?.[1] ?? '';
    const second = first === 'left' ? 'right' : 'left';
    workerOf(first).kill('SIGKILL');
    workers = workers.filter(({ name }) => name !== first);

    await page.getByRole('heading', { name: 'Lost sandboxes' }).waitFor(PATIENCE);
    await page.getByText(`Attempt 1 on worker ${first}: `).waitFor();
    await page.getByRole('status').getByText(`on worker ${second}`).waitFor(PATIENCE);
    await output.getByText('begun').waitFor();
    held.resolve();
    await page.getByRole('status').getByText('succeeded').waitFor(PATIENCE);
    await page.getByText(`worker ${second} · attempt 2`).waitFor();
    // The output of the first attempt does not count.
    await page.getByText('2 lines').waitFor();
    expect(await output.locator('.line').allTextContents()).toEqual(['begun', 'ended']);

    // A reader who comes later sees the same.
    await page.reload();
    await page.getByText(`Attempt 1 on worker ${first}: `).waitFor();
    await page.getByText('2 lines').waitFor();
    expect(faults).toEqual([]);
  }, 180_000);

  it('shows its workers and waiting demands, and drains a worker after a question', async () => {
    await haveWorkers('busy');
    for (const { name, ended } of workers.filter((worker) => worker.name !== 'busy')) {
      await scene.service.call(`/fleet/workers/${name}/drain`, { method: 'POST' });
      await ended;
    }
    workers = [workerOf('busy')];
    const { page, faults } = await scene.open();
    await page.getByRole('link', { name: 'Fleet' }).click();
    const row = page.getByRole('row').filter({ hasText: 'busy' });
    await row.getByText('0 of 1 slots').waitFor(PATIENCE);
    const [taken, waiting] = [await submit(), await submit()];
    await row.getByText('1 of 1 slots').waitFor(PATIENCE);
    const demands = page.getByRole('row').filter({ hasText: 'default' }).last();
    await demands.getByRole('cell', { name: '1', exact: true }).waitFor(PATIENCE);
    await demands.getByText(/^\d+(?:\.\d)? m?s$/).waitFor();

    await row.getByRole('button', { name: 'Drain busy' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect((await scene.service.call('/fleet')).json.workers[0].draining).toBe(false);
    await row.getByRole('button', { name: 'Drain busy' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Drain' }).click();
    await row.getByText('draining').waitFor(PATIENCE);
    expect(await row.getByRole('button').count()).toBe(0);

    // The running job ends there, and the other one waits for a worker.
    held.resolve();
    await page.getByText('No worker is in the fleet.').waitFor(PATIENCE);
    expect((await scene.service.call(`/jobs/${taken}/result`)).json.worker).toBe('busy');
    expect(await workerOf('busy').ended).toBe(0);
    expect((await scene.service.call(`/jobs/${waiting}`)).json.state).not.toBe('finished');
    expect((await scene.service.call(`/jobs/${waiting}/cancel`, { method: 'POST' })).status).toBe(202);
    workers = [];
    expect(faults).toEqual([]);
  }, 180_000);

  it('keeps what it showed while Redis is away, with the reason, and offers no drain to a token that reads', async () => {
    await haveWorkers('other');
    const { json: reading } = await scene.service.call('/tokens', { body: { name: 'reads', readOnly: true } });
    const { page, faults } = await scene.open({ path: '/fleet', token: reading.token });
    const cell = page.getByRole('cell', { name: 'other', exact: true });
    await cell.waitFor(PATIENCE);
    expect(await page.getByRole('button', { name: 'Drain other' }).count()).toBe(0);
    await redis.stop();
    await page.getByRole('alert').getByText('fleet.unavailable').waitFor(PATIENCE);
    expect(await cell.isVisible()).toBe(true);
    await redis.start();
    await page.getByRole('alert').waitFor({ ...PATIENCE, state: 'detached' });
    await cell.waitFor(PATIENCE);
    expect(faults).toEqual([]);
  }, 180_000);
});
