import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOrchestrator } from '../../../src/orchestrator/create-orchestrator.ts';
import type { Orchestrator } from '../../../src/orchestrator/orchestrator.ts';
import { createDockerRunner } from '../../../src/runners/docker/docker-runner.ts';
import { connectEngine } from '../../../src/runners/docker/engine.ts';
import type { Runner } from '../../../src/runners/runner.ts';
import { dockerImage } from '../../fixtures/docker-image.ts';
import {
  missingFor,
  OTHER_RUNTIME,
  SECOND_NAME,
  startKernelEngine,
  type KernelEngine,
} from '../../fixtures/kernel-engine.ts';

const LIMITS = { runTimeoutMs: 20_000 };

/** Level container does not depend on the engine's own OCI runtime. */
describe.each([SECOND_NAME, OTHER_RUNTIME])('level container, with the runtime %s', (runtime) => {
  const missing = missingFor(runtime);
  if (missing !== undefined) {
    test('is tried', ({ skip }) => skip(`this machine lacks ${missing}`));
    return;
  }
  let engine: KernelEngine;
  let runner: Runner;
  let orchestrator: Orchestrator;
  beforeAll(async () => {
    engine = await startKernelEngine();
    const { bundle } = await dockerImage();
    runner = createDockerRunner({ host: engine.host, runtime, bundle });
    orchestrator = createOrchestrator({ runners: [runner], pool: { size: 1, isolation: 'container' } });
  }, 120_000);
  afterAll(async () => {
    await orchestrator?.close();
    await engine?.[Symbol.asyncDispose]();
  }, 60_000);

  test('its containers run under it, warm and cold', async () => {
    await orchestrator.warm();
    const docker = await connectEngine({ host: engine.host });
    const waiting = await docker.listContainers();
    const seen = await Promise.all(waiting.map(({ Id }) => docker.getContainer(Id).inspect()));
    expect(seen.map(({ HostConfig }) => HostConfig.Runtime)).toEqual([runtime]);
    for (const [language, code, warm] of [
      ['javascript', 'console.log(6 * 7)', true],
      ['python', 'print(42)', false],
      ['bash', 'echo 42', false],
    ] as const) {
      const result = await orchestrator.exec({ language, code, isolation: 'container', limits: LIMITS });
      expect(result).toMatchObject({ outcome: 'succeeded', isolation: 'container', stdout: { text: '42\n' } });
      expect(result.usage.warm).toBe(warm);
    }
  }, 60_000);

  test('it is no runtime for level kernel, whatever it is called: its containers have the kernel of the engine', async () => {
    const { bundle } = await dockerImage();
    await using alike = createDockerRunner({ host: engine.host, kernelRuntime: runtime, bundle });
    const [kernel, container] = await alike.probe();
    expect(kernel).toMatchObject({ isolation: 'kernel', available: false });
    expect(kernel?.reasons.join()).toMatch(/it has the kernel of the engine, got \d/);
    expect(container).toMatchObject({ isolation: 'container', available: true });
    await using asking = createOrchestrator({ runners: [alike] });
    await expect(asking.exec({ code: '1', isolation: 'kernel' })).rejects.toMatchObject({
      code: 'runner.isolation-unmet',
    });
    const docker = await connectEngine({ host: engine.host });
    expect(
      (await docker.listContainers({ all: true })).filter(({ Labels }) => Labels['skillcell.job'] === undefined),
    ).toEqual([]);
  }, 60_000);

  test('it holds limits, user ids and the filter of system calls', async () => {
    const code = `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
print(os.getuid(), libc.unshare(0x10000000), ctypes.get_errno(), open('/proc/self/status').read().count('Seccomp:\\t2'))
open('/etc/written', 'w')`;
    const result = await orchestrator.exec({ language: 'python', code, isolation: 'container', limits: LIMITS });
    expect(result).toMatchObject({ outcome: 'failed', stdout: { text: '10002 -1 1 1\n' } });
    expect(result.stderr.text).toMatch(/Read-only file system/);
    const greedy = await orchestrator.exec({
      language: 'python',
      code: "block = bytearray(b'x') * (600 * 1048576)",
      isolation: 'container',
      limits: { ...LIMITS, memoryMib: 128, workspaceMib: 16 },
    });
    expect(greedy.outcome).toBe('out_of_memory');
    const endless = await orchestrator.exec({
      language: 'bash',
      code: 'sleep 60',
      isolation: 'container',
      limits: { runTimeoutMs: 1_000 },
    });
    expect(endless.outcome).toBe('timeout');
  }, 60_000);
});
