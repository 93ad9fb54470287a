import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { createDockerRunner } from '../../../src/sandboxes/docker/docker-runner.ts';
import { connectEngine } from '../../../src/sandboxes/docker/engine/engine.ts';
import { dockerImage } from '../../fixtures/docker-image.ts';
import { describeWith } from '../../fixtures/describe-with.ts';
import { atKernelEngine, missingFor, OTHER_RUNTIME, SECOND_NAME } from '../../fixtures/kernel-engine.ts';

const LIMITS = { runTimeoutMs: 20_000 };

/** Level container does not depend on the engine's default OCI runtime. */
for (const runtime of [SECOND_NAME, OTHER_RUNTIME] as const) {
  const title = `level container, with the runtime ${runtime}`;
  // No installation can fix this, so it is a skip in CI, too.
  if (runtime === OTHER_RUNTIME && hasHybridGroups()) {
    test(title, ({ skip }) => skip('the control groups of this machine are in hybrid mode, which crun refuses'));
  } else describeWith(title, missingFor(runtime), () => describeRuntime(runtime));
}

/** Control groups version 1 with an empty tree of version 2. */
function hasHybridGroups(): boolean {
  return existsSync('/sys/fs/cgroup/unified') && !existsSync('/sys/fs/cgroup/cgroup.controllers');
}

function describeRuntime(runtime: string): void {
  const at = atKernelEngine({ runtime }, { pool: { size: 1, isolation: 'container' } });

  test('containers run under it, warm and cold', async () => {
    await at.orchestrator.warm();
    const docker = await connectEngine({ host: at.engine.host });
    const waiting = await docker.listContainers();
    const seen = await Promise.all(waiting.map(({ Id }) => docker.getContainer(Id).inspect()));
    expect(seen.map(({ HostConfig }) => HostConfig.Runtime)).toEqual([runtime]);
    for (const [language, code, warm] of [
      ['javascript', 'console.log(6 * 7)', true],
      ['python', 'print(42)', false],
      ['bash', 'echo 42', false],
    ] as const) {
      const result = await at.orchestrator.exec({ language, code, isolation: 'container', limits: LIMITS });
      expect(result).toMatchObject({ outcome: 'succeeded', isolation: 'container', stdout: { text: '42\n' } });
      expect(result.usage.warm).toBe(warm);
    }
  });

  test('level kernel refuses it, because its containers have the kernel of the engine', async () => {
    const { bundle } = await dockerImage();
    await using alike = createDockerRunner({ host: at.engine.host, kernelRuntime: runtime, bundle });
    const [kernel, container] = await alike.probe();
    expect(kernel).toMatchObject({ isolation: 'kernel', available: false });
    expect(kernel?.reasons.join()).toMatch(/it has the kernel of the engine, got \d/);
    expect(container).toMatchObject({ isolation: 'container', available: true });
    await using asking = createOrchestrator({ runners: [alike] });
    await expect(asking.exec({ code: '1', isolation: 'kernel' })).rejects.toMatchObject({
      code: 'runner.isolation-unmet',
    });
    const docker = await connectEngine({ host: at.engine.host });
    expect(
      (await docker.listContainers({ all: true })).filter(({ Labels }) => Labels['skillcell.job'] === undefined),
    ).toEqual([]);
  });

  test('limits, user ids and the system call filter apply', async () => {
    const code = `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
print(os.getuid(), libc.unshare(0x10000000), ctypes.get_errno(), open('/proc/self/status').read().count('Seccomp:\\t2'))
open('/etc/written', 'w')`;
    const result = await at.orchestrator.exec({ language: 'python', code, isolation: 'container', limits: LIMITS });
    expect(result).toMatchObject({ outcome: 'failed', stdout: { text: '10002 -1 1 1\n' } });
    expect(result.stderr.text).toMatch(/Read-only file system/);
    const greedy = await at.orchestrator.exec({
      language: 'python',
      code: "block = bytearray(b'x') * (600 * 1048576)",
      isolation: 'container',
      limits: { ...LIMITS, memoryMib: 128, workspaceMib: 16 },
    });
    expect(greedy.outcome).toBe('out_of_memory');
    const endless = await at.orchestrator.exec({
      language: 'bash',
      code: 'sleep 60',
      isolation: 'container',
      limits: { runTimeoutMs: 1_000 },
    });
    expect(endless.outcome).toBe('timeout');
  });
}
