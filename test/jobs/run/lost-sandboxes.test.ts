import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../../../src/jobs/orchestrator.ts';
import type { JobEvent } from '../../../src/contracts/jobs/events.ts';
import { createFleetRunner } from '../../../src/sandboxes/fleet/fleet-runner.ts';
import { describeWith } from '../../fixtures/describe-with.ts';
import { MISSING_REDIS, type RedisServer, startRedis } from '../../fixtures/fleet/redis.ts';
import { startWorkerProcess, type WorkerProcess } from '../../fixtures/fleet/worker-process.ts';
import { toolList } from '../../fixtures/tool-list.ts';

/** Prints, reads, and waits once it was told to. */
const CODE = `import { callTool } from 'skillcell';
console.log('begun');
await callTool('look');
await callTool('arrive');
console.log('ended');
export default 7;`;

describeWith('a job whose sandbox is lost', MISSING_REDIS, () => {
  let redis: RedisServer;
  let workers: WorkerProcess[] = [];
  let orchestrator: Orchestrator;
  let looks = 0;
  /** Called when a program has arrived, with the number of its attempt. */
  let arrived: (attempt: number) => Promise<void>;
  beforeAll(async () => {
    redis = await startRedis();
    const tools = toolList([
      ['look', { description: 'Reads.', effect: 'read', execute: async () => (looks += 1) }],
      [
        'arrive',
        {
          description: 'Waits.',
          effect: 'read',
          timeoutMs: 60_000,
          execute: async (_, { attempt }) => await arrived(attempt),
        },
      ],
      ['write', { description: 'Writes.', execute: async () => await arrived(1) }],
    ]);
    const fleet = createFleetRunner({ url: redis.url, leaseMs: 2_000, emptyFleet: 'wait' });
    orchestrator = createOrchestrator({ runners: [fleet], tools });
  }, 60_000);
  beforeEach(() => void (looks = 0));
  afterAll(async () => {
    await orchestrator.close();
    for (const worker of workers) await worker[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
  }, 60_000);

  const startWorkers = async (...names: string[]): Promise<void> => {
    workers = [
      ...workers,
      ...(await Promise.all(names.map(async (name) => startWorkerProcess(await redis.workerUrl(name), name)))),
    ];
  };
  const end = async (name: string, signal: NodeJS.Signals): Promise<void> => {
    const worker = workers.find((each) => each.name === name);
    worker?.kill(signal);
    await worker?.ended;
    workers = workers.filter((each) => each !== worker);
  };
  /** Runs the program, and ends the worker of its first attempts while it waits for a tool. */
  const runWhile = async (signal: NodeJS.Signals, deaths: number, code = CODE, tools = ['look', 'arrive']) => {
    const events: JobEvent[] = [];
    let [place, ended] = ['', 0];
    arrived = async () => {
      if (ended === deaths) return;
      ended += 1;
      await end(place, signal);
      await new Promise(() => undefined);
    };
    const job = orchestrator.stream({ kind: 'exec', code, tools });
    for await (const event of job) {
      events.push(event);
      if (event.type === 'started') place = event.worker ?? '';
    }
    return { result: await job.result, events };
  };

  it('runs again on another worker after a kill, with all of its output once', async () => {
    await startWorkers('one', 'two');
    const { result, events } = await runWhile('SIGKILL', 1);
    expect(result).toMatchObject({ outcome: 'succeeded', value: 7, attempt: 2, runner: 'fleet' });
    expect(result.stdout.text).toBe('begun\nended\n');
    expect(looks).toBe(2);
    expect(workers.map(({ name }) => name)).toEqual([result.worker]);
    expect(events.filter(({ type }) => type === 'restarted' || type === 'started').map(({ type }) => type)).toEqual([
      'started',
      'restarted',
      'started',
    ]);
    expect(result.diagnostics.map(({ code }) => code)).toEqual(['sandbox.restarted']);
  }, 120_000);

  it('is not run again once a tool has begun that may change something', async () => {
    const code = CODE.replace("'look'", "'write'");
    const job = runWhile('SIGKILL', 1, code, ['write', 'arrive']);
    await expect(job).rejects.toMatchObject({
      code: 'sandbox.lost',
      message: expect.stringMatching(/worker (one|two): .*a call of write had begun/) as string,
    });
  }, 120_000);

  it('is run three times at most, and more often where workers leave', async () => {
    await startWorkers('three', 'four', 'five', 'six');
    const { result } = await runWhile('SIGTERM', 3);
    expect(result).toMatchObject({ outcome: 'succeeded', attempt: 4 });
    await startWorkers('seven', 'eight');
    await expect(runWhile('SIGKILL', 3)).rejects.toMatchObject({ code: 'sandbox.lost' });
  }, 240_000);
});
