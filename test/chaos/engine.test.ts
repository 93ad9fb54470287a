import { execFileSync } from 'node:child_process';
import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { JobResult } from '../../src/contracts/jobs/result.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import type { JobStream, Orchestrator, OrchestratorOptions } from '../../src/jobs/orchestrator.ts';
import { LABEL } from '../../src/sandboxes/docker/container-options.ts';
import { createDockerRunner } from '../../src/sandboxes/docker/docker-runner.ts';
import { imageName } from '../../src/sandboxes/docker/build/image.ts';
import { describeWith } from '../fixtures/describe-with.ts';
import { dockerImage, type DockerImage } from '../fixtures/docker-image.ts';
import { until } from '../fixtures/until.ts';
import { startEngineProxy } from './engine-proxy.ts';
import { createOwnEngine, NO_OWN_ENGINE, type OwnEngine, type OwnEngineOptions } from '../fixtures/own-engine.ts';
import { startQuietClock } from '../fixtures/quiet-clock.ts';

const SLEEP = 'console.log("up"); await new Promise((resolve) => setTimeout(resolve, 30_000));';
/** The codes of a job whose engine failed: never an outcome of user code. */
const INFRASTRUCTURE = /^(sandbox\.lost|engine\.unavailable|engine\.failed|sandbox\.start-failed)$/;

let image: DockerImage;

async function engineWithImage(options: OwnEngineOptions = {}): Promise<OwnEngine> {
  const engine = await createOwnEngine(options);
  await engine.takeImage(image.engine, imageName('slim', image.bundle.digest));
  return engine;
}

function orchestratorOn(host: string, options: Omit<OrchestratorOptions, 'runners'> = {}): Orchestrator {
  return createOrchestrator({ runners: [createDockerRunner({ host, bundle: image.bundle })], ...options });
}

/** A job whose program is running. */
async function runningJob(orchestrator: Orchestrator): Promise<JobStream> {
  const job = orchestrator.stream({ kind: 'exec', code: SLEEP });
  job.result.catch(() => undefined);
  for await (const event of job) if (event.type === 'output') break;
  return job;
}

/** The error of a job that was cut off, and the time it took. */
async function failureOf(result: Promise<JobResult>): Promise<{ code: string; message: string; tookMs: number }> {
  const elapsedMs = startQuietClock();
  try {
    const { outcome } = await result;
    return { code: `outcome ${outcome}`, message: '', tookMs: elapsedMs() };
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return { code, message, tookMs: elapsedMs() };
  }
}

async function containersOf({ client }: OwnEngine): Promise<number> {
  return (await client.listContainers({ all: true, filters: { label: [`${LABEL.managed}=true`] } })).length;
}

describeWith('an engine that fails', NO_OWN_ENGINE, () => {
  let engine: OwnEngine;
  beforeAll(async () => {
    image = await dockerImage();
    engine = await engineWithImage();
  }, 120_000);
  afterAll(async () => {
    await engine?.[Symbol.asyncDispose]();
  });

  it.each([['SIGTERM'], ['SIGKILL']] as const)(
    'F10 a job whose engine is restarted by %s fails as lost, and the next job and the pool work afterwards',
    async (signal) => {
      await using orchestrator = orchestratorOn(engine.host, { pool: { size: 2 }, sweepIntervalMs: 1_000 });
      await orchestrator.warm();
      const { result } = await runningJob(orchestrator);
      const failure = failureOf(result);
      await engine.stop(signal);
      const meanwhile = await failureOf(orchestrator.exec({ code: '1' }));
      expect(meanwhile.code).toMatch(INFRASTRUCTURE);
      expect(meanwhile.tookMs).toBeLessThan(10_000);
      await engine.start();
      const { code, tookMs } = await failure;
      expect(code).toMatch(INFRASTRUCTURE);
      expect(tookMs).toBeLessThan(30_000);
      const next = await orchestrator.exec({ code: 'console.log(6 * 7)' });
      expect(next).toMatchObject({ outcome: 'succeeded', stdout: { text: '42\n' } });
      const isWarm = async (): Promise<boolean> => {
        // A job that finds no warm container takes over the start that is under way, and would leave the pool empty each time.
        await orchestrator.warm();
        return (await orchestrator.exec({ code: '1' })).usage.warm;
      };
      await until(isWarm, 'a warm container of the restarted engine', 40_000);
      await orchestrator.close();
      await until(async () => (await containersOf(engine)) === 0, 'an end of all containers', 20_000);
    },
    120_000,
  );

  it('F10 a job whose attach stream is cut fails as lost, and its container is removed', async () => {
    await using proxy = await startEngineProxy(engine.socket);
    await using orchestrator = orchestratorOn(proxy.host, { pool: { size: 1 }, sweepIntervalMs: 0 });
    await orchestrator.warm();
    const { result } = await runningJob(orchestrator);
    await orchestrator.warm();
    expect(proxy.cutStreams()).toBe(2);
    const { code, tookMs } = await failureOf(result);
    expect(code).toBe('sandbox.lost');
    expect(tookMs).toBeLessThan(8_000);
    expect((await orchestrator.exec({ code: 'console.log(6 * 7)' })).stdout.text).toBe('42\n');
    await orchestrator.close();
    expect(await containersOf(engine)).toBe(0);
  });

  it('F11 an engine that hangs before a job fails it within the deadline of a call', async () => {
    await using proxy = await startEngineProxy(engine.socket);
    await using orchestrator = orchestratorOn(proxy.host, { sweepIntervalMs: 0 });
    proxy.hang();
    const { code, tookMs } = await failureOf(orchestrator.exec({ code: '1' }));
    expect(code).toBe('engine.unavailable');
    expect(tookMs).toBeLessThan(10_000);
    proxy.recover();
    expect((await orchestrator.exec({ code: 'console.log(6 * 7)' })).stdout.text).toBe('42\n');
  });

  it('F11 an engine that hangs while a container is made fails the job, and the container is removed later', async () => {
    await using proxy = await startEngineProxy(engine.socket);
    await using orchestrator = orchestratorOn(proxy.host, { sweepIntervalMs: 300 });
    await orchestrator.exec({ code: '1' });
    const job = failureOf(orchestrator.exec({ code: '1' }));
    await pause(30);
    proxy.hang();
    const { code, tookMs } = await job;
    expect(code).toMatch(INFRASTRUCTURE);
    expect(tookMs).toBeLessThan(10_000);
    proxy.recover();
    await until(async () => (await containersOf(engine)) === 0, 'the removal of the container', 15_000);
  });

  it('F11 an engine that hangs in the middle of a job ends it soon after its deadline, as a failure of the engine', async () => {
    await using proxy = await startEngineProxy(engine.socket);
    await using orchestrator = orchestratorOn(proxy.host, { sweepIntervalMs: 0 });
    const job = orchestrator.stream({ kind: 'exec', code: SLEEP, limits: { jobTimeoutMs: 3_000, graceMs: 500 } });
    const failure = failureOf(job.result);
    for await (const event of job) if (event.type === 'output') break;
    proxy.hang();
    const { code, tookMs } = await failure;
    expect(code).toMatch(INFRASTRUCTURE);
    expect(tookMs).toBeLessThan(20_000);
    proxy.recover();
    await orchestrator.close();
    await until(async () => (await containersOf(engine)) === 0, 'an end of all containers', 15_000);
  });

  it('F11 close() ends within 10 s when the engine hangs, with jobs and warm containers under way', async () => {
    await using proxy = await startEngineProxy(engine.socket);
    const orchestrator = orchestratorOn(proxy.host, { pool: { size: 2 } });
    await orchestrator.warm();
    const { result } = await runningJob(orchestrator);
    proxy.hang();
    const waiting = failureOf(orchestrator.exec({ code: '1', language: 'python' }));
    const elapsedMs = startQuietClock();
    await Promise.all([orchestrator.close(), orchestrator.close()]);
    expect(elapsedMs()).toBeLessThan(10_000);
    await result.catch(() => undefined);
    await waiting;
    proxy.recover();
    // The supervisors have heard that their channels are gone.
    await until(
      async () => (await engine.client.listContainers({ filters: { label: [`${LABEL.managed}=true`] } })).length === 0,
      'an end of all running containers',
      15_000,
    );
  });
});

describeWith('F14 an engine whose disk is full', NO_OWN_ENGINE, () => {
  let engine: OwnEngine;
  beforeAll(async () => {
    image = await dockerImage();
    engine = await engineWithImage({ memoryMib: 1_024 });
  }, 120_000);
  afterAll(async () => {
    await engine?.[Symbol.asyncDispose]();
  });

  it('refuses jobs with a clear error, leaves nothing, and serves them when there is room again', async () => {
    await using orchestrator = orchestratorOn(engine.host, { sweepIntervalMs: 0 });
    expect((await orchestrator.exec({ code: 'console.log(1)' })).outcome).toBe('succeeded');
    // The removal of the container runs in the background and would make room again.
    await until(async () => (await containersOf(engine)) === 0, 'the removal of its container');
    const ballast = join(engine.dataFolder, 'ballast');
    fill(ballast);
    const { code, message, tookMs } = await failureOf(orchestrator.exec({ code: '1' }));
    expect(code).toBe('engine.failed');
    expect(message).toContain('no space left on device');
    expect(tookMs).toBeLessThan(10_000);
    rmSync(ballast);
    expect((await orchestrator.exec({ code: 'console.log(1)' })).outcome).toBe('succeeded');
    await orchestrator.close();
    expect(await containersOf(engine)).toBe(0);
  });
});

function fill(path: string): void {
  try {
    execFileSync('dd', ['if=/dev/zero', `of=${path}`, 'bs=1M'], { stdio: 'ignore' });
  } catch {
    // dd fails when the disk is full, as intended. The rest is filled byte by byte.
  }
  try {
    for (;;) appendFileSync(path, Buffer.alloc(1_024));
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
  }
}
