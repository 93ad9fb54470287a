import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobEvent } from '../../../src/contracts/jobs/events.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import type { Orchestrator, OrchestratorOptions } from '../../../src/jobs/orchestrator.ts';
import { createLocalRunner } from '../../../src/sandboxes/local/local-runner.ts';
import type { Runner } from '../../../src/sandboxes/runner.ts';
import { LEVELS, requireLevel } from '../../fixtures/levels.ts';
import { until } from '../../fixtures/until.ts';

/** A real runner that counts its living sandboxes. */
function countingRunner(): { runner: Runner; alive(): number; most(): number } {
  const local = createLocalRunner();
  let alive = 0;
  let most = 0;
  const runner: Runner = {
    ...local,
    async start(spec, options) {
      const sandbox = await local.start(spec, options);
      alive += 1;
      most = Math.max(most, alive);
      void sandbox.exited.then(() => (alive -= 1));
      return sandbox;
    },
  };
  return { runner, alive: () => alive, most: () => most };
}

let counted: ReturnType<typeof countingRunner>;
let orchestrator: Orchestrator;
const open = (options: OrchestratorOptions = {}): Orchestrator => {
  counted = countingRunner();
  return (orchestrator = createOrchestrator({ runners: [counted.runner], concurrency: 2, ...options }));
};
afterEach(async () => {
  await orchestrator.close();
  expect(counted.alive()).toBe(0);
});

/** Collects the events of a job in the background. */
function follow(stream: AsyncIterable<JobEvent>): { types: string[]; ended: Promise<void> } {
  const types: string[] = [];
  const ended = (async () => {
    for await (const { type } of stream) types.push(type);
  })();
  return { types, ended };
}

const SLEEP = 'console.log("up"); await new Promise((resolve) => setTimeout(resolve, 60_000));';
const STUBBORN = `process.on('SIGTERM', () => {}); ${SLEEP}`;

describe.each(LEVELS)('at level %s', (isolation) => {
  beforeEach((context) => requireLevel(context, isolation));

  it('B19 no more jobs run at once than allowed, and each ending of a job frees its place', async () => {
    open();
    let under = 0;
    let most = 0;
    const codes = ['1', 'throw 1', 'process.exit(3)', SLEEP, 'process.kill(process.pid, 9)', '1', 'throw 2', '1'];
    const jobs = codes.map((code) => {
      const job = orchestrator.stream({
        kind: 'exec',
        isolation,
        code,
        limits: { ...(code === SLEEP ? { runTimeoutMs: 2_000 } : {}), graceMs: 100 },
      });
      void (async () => {
        for await (const { type } of job) {
          if (type === 'started') most = Math.max(most, (under += 1));
          if (type === 'finished') under -= 1;
        }
      })();
      return job.result;
    });
    const refused = orchestrator.exec({ isolation, code: '' }).catch((error: unknown) => error);
    const outcomes = (await Promise.all(jobs)).map(({ outcome }) => outcome);
    expect(outcomes).toEqual([
      'succeeded',
      'failed',
      'failed',
      'timeout',
      'failed',
      'succeeded',
      'failed',
      'succeeded',
    ]);
    expect(await refused).toMatchObject({ code: 'job.invalid' });
    expect(most).toBe(2);
    const after = await Promise.all([1, 2].map(() => orchestrator.exec({ isolation, code: '1' })));
    expect(after.map(({ outcome }) => outcome)).toEqual(['succeeded', 'succeeded']);
  });

  it('a place is freed if a sandbox cannot be started', async () => {
    open({ concurrency: 1 });
    const broken = createLocalRunner({ bundle: { folder: '/nowhere', digest: 'sha256:0', files: {} } });
    await using other = createOrchestrator({ runners: [broken], concurrency: 1 });
    for (const _round of [1, 2]) await expect(other.exec({ isolation, code: '1' })).rejects.toThrow();
    expect(await orchestrator.exec({ isolation, code: '1' })).toMatchObject({ outcome: 'succeeded' });
  });

  it('a waiting job is canceled without a sandbox, and the job behind it gets its turn', async () => {
    open({ concurrency: 1 });
    const running = orchestrator.stream({ kind: 'exec', isolation, code: SLEEP });
    const first = follow(running);
    await until(() => first.types.includes('output'), 'output');
    const waiting = orchestrator.stream({ kind: 'exec', isolation, jobId: 'waiting', code: '1' });
    const last = orchestrator.exec({ isolation, code: 'export default "last"' });
    const { types, ended } = follow(waiting);
    await until(() => types.length === 1, 'the job to be accepted');
    expect(orchestrator.cancel('waiting')).toBe(true);
    expect(await waiting.result).toMatchObject({
      jobId: 'waiting',
      outcome: 'canceled',
      error: { name: 'Canceled', message: 'cancel() was called' },
      usage: { wallMs: null },
    });
    await ended;
    expect(types).toEqual(['accepted', 'finished']);
    expect(orchestrator.cancel(running.jobId)).toBe(true);
    expect((await running.result).outcome).toBe('canceled');
    expect((await last).value).toBe('last');
  });

  it('a running job is canceled with its output so far, and has exactly one result', async () => {
    open();
    const job = orchestrator.stream({ kind: 'exec', isolation, code: SLEEP });
    const { types, ended } = follow(job);
    await until(() => types.includes('output'), 'output');
    expect(orchestrator.cancel(job.jobId)).toBe(true);
    expect(orchestrator.cancel(job.jobId)).toBe(true);
    const result = await job.result;
    expect(result).toMatchObject({ outcome: 'canceled', stdout: { text: 'up\n' } });
    await ended;
    expect(types.filter((type) => type === 'finished')).toHaveLength(1);
    expect(types.at(-1)).toBe('finished');
    expect(orchestrator.cancel(job.jobId)).toBe(false);
    await until(() => counted.alive() === 0, 'the end of the sandbox');
  });

  it('B15 a program that ignores SIGTERM is killed after the grace', async () => {
    open();
    const job = orchestrator.stream({ kind: 'exec', isolation, code: STUBBORN, limits: { graceMs: 200 } });
    const { types } = follow(job);
    await until(() => types.includes('output'), 'output');
    const before = performance.now();
    orchestrator.cancel(job.jobId);
    expect((await job.result).outcome).toBe('canceled');
    expect(performance.now() - before).toBeGreaterThanOrEqual(190);
  });

  it('a job is canceled by its own signal, before and while it runs', async () => {
    open();
    const reason = new Error('the user closed the window');
    const never = await orchestrator.exec({ isolation, code: '1', signal: AbortSignal.abort(reason) });
    expect(never).toMatchObject({ outcome: 'canceled', error: { name: 'Canceled', message: reason.message } });
    expect(counted.most()).toBe(0);
    const abort = new AbortController();
    const job = orchestrator.stream({ kind: 'exec', isolation, code: SLEEP, signal: abort.signal });
    const { types } = follow(job);
    await until(() => types.includes('output'), 'output');
    abort.abort('the answer is there');
    orchestrator.cancel(job.jobId, 'the user is in a hurry');
    expect(await job.result).toMatchObject({
      outcome: 'canceled',
      stdout: { text: 'up\n' },
      error: { name: 'Canceled', message: 'the answer is there' },
      diagnostics: expect.arrayContaining([
        expect.objectContaining({
          code: 'job.canceled-again',
          message: expect.stringContaining('the user is in a hurry'),
        }),
      ]),
    });
  });

  it('an invalid job is refused, even if it is canceled', async () => {
    open();
    const refused = orchestrator.exec({ isolation, code: '', signal: AbortSignal.abort() });
    await expect(refused).rejects.toMatchObject({ code: 'job.invalid' });
  });

  it('a job that is canceled at any moment of its start ends as canceled', async () => {
    open({ concurrency: 4 });
    const endings = await Promise.all(
      Array.from({ length: 8 }, async (_, index) => {
        const jobId = `early-${index}`;
        const job = orchestrator.exec({ isolation, jobId, code: SLEEP });
        if (index > 0) await new Promise((resolve) => setTimeout(resolve, index * 12));
        expect(orchestrator.cancel(jobId)).toBe(true);
        return job;
      }),
    );
    expect(endings.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 8 }, () => 'canceled'));
    await until(() => counted.alive() === 0, 'the end of all sandboxes');
  });

  it('B14 the clock of a run ends it as RunTimeout, the clock of the job as JobTimeout', async () => {
    open();
    const run = await orchestrator.exec({ isolation, code: SLEEP, limits: { runTimeoutMs: 5_000 } });
    expect(run).toMatchObject({ outcome: 'timeout', error: { name: 'RunTimeout' }, stdout: { text: 'up\n' } });
    const job = await orchestrator.exec({ isolation, code: SLEEP, limits: { jobTimeoutMs: 5_000 } });
    expect(job).toMatchObject({ outcome: 'timeout', error: { name: 'JobTimeout' }, stdout: { text: 'up\n' } });
  });

  it('an id in use is refused, and free again afterwards', async () => {
    open();
    const first = orchestrator.exec({ isolation, jobId: 'same', code: '1' });
    await expect(orchestrator.exec({ isolation, jobId: 'same', code: '2' })).rejects.toMatchObject({
      code: 'job.invalid',
    });
    expect((await first).jobId).toBe('same');
    expect((await orchestrator.exec({ isolation, jobId: 'same', code: '3' })).jobId).toBe('same');
  });

  it('B20 a job is refused at once if the queue is full', async () => {
    open({ concurrency: 1, queue: 1 });
    const running = orchestrator.stream({ kind: 'exec', isolation, code: SLEEP });
    const { types } = follow(running);
    await until(() => types.includes('started'), 'the first job');
    const waiting = orchestrator.exec({ isolation, code: '1' });
    await until(async () => {
      const third = await orchestrator.exec({ isolation, code: '1', signal: AbortSignal.timeout(50) }).then(
        ({ outcome }) => outcome as string,
        (error: { code: string }) => error.code,
      );
      return third === 'orchestrator.queue-full';
    }, 'a full queue');
    orchestrator.cancel(running.jobId);
    expect((await waiting).outcome).toBe('succeeded');
  });

  it('close() cancels running and waiting jobs, leaves no sandbox, and refuses later jobs', async () => {
    open({ concurrency: 1 });
    const running = orchestrator.stream({ kind: 'exec', isolation, code: SLEEP });
    const { types } = follow(running);
    await until(() => types.includes('output'), 'output');
    const waiting = orchestrator.stream({ kind: 'exec', isolation, code: '1' });
    const closed = { outcome: 'canceled', error: { message: 'the orchestrator was closed' } };
    const second = follow(waiting);
    await until(() => second.types.includes('accepted'), 'the second job to be accepted');
    const arriving = orchestrator.exec({ isolation, code: '1' });
    await Promise.all([orchestrator.close(), orchestrator.close()]);
    expect(counted.alive()).toBe(0);
    expect(await running.result).toMatchObject({ outcome: 'canceled', stdout: { text: 'up\n' } });
    expect(await Promise.all([waiting.result, arriving])).toMatchObject([closed, closed]);
    await expect(orchestrator.exec({ isolation, code: '1' })).rejects.toMatchObject({ code: 'orchestrator.closed' });
    await orchestrator.close();
  });
});
