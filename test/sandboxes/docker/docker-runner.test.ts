import { expect, it } from 'vitest';
import { createDockerRunner, type DockerRunnerOptions } from '../../../src/sandboxes/docker/docker-runner.ts';
import type { SandboxSpec } from '../../../src/sandboxes/runner.ts';

const LIMITS = { memoryMib: 300, cpus: 1, pids: 50, workspaceMib: 40, workspaceInodes: 2_000 };
const nowhere = { host: 'unix:///nowhere/engine.sock' };

it.each<[SandboxSpec['isolation'], DockerRunnerOptions, string]>([
  ['container', nowhere, 'engine.unavailable'],
  ['kernel', nowhere, 'runner.isolation-unmet'],
  ['kernel', { ...nowhere, kernelRuntime: 'runsc' }, 'engine.unavailable'],
  ['namespace', { ...nowhere, kernelRuntime: 'runsc' }, 'runner.isolation-unmet'],
  ['none', { ...nowhere, kernelRuntime: 'runsc' }, 'runner.isolation-unmet'],
])('level %s with %j asks the engine only if the runner has the level', async (isolation, options, code) => {
  await using runner = createDockerRunner(options);
  const { signal } = new AbortController();
  await expect(runner.start({ isolation, language: 'python', limits: LIMITS }, { signal })).rejects.toMatchObject({
    code,
  });
});
