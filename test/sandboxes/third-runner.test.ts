import { expect, it } from 'vitest';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import { createLocalRunner } from '../../src/sandboxes/local/local-runner.ts';
import { describeRunner } from '../conformance/runner.ts';
import { descendants, killProcess } from '../fixtures/sandbox-leftovers.ts';
import { createPlainRunner, plainLeftovers } from '../fixtures/plain-runner.ts';

describeRunner({
  name: 'plain',
  isolation: 'none',
  create: createPlainRunner,
  leftovers: async () => plainLeftovers(),
  async breakSandbox() {
    for (const { pid, command } of descendants(process.pid)) if (/\bentry\.cjs\b/.test(command)) killProcess(pid);
  },
});

it('a runner with an unknown name takes jobs, and results contain its name', async () => {
  await using orchestrator = createOrchestrator({ runners: [createPlainRunner(), createLocalRunner()] });
  const result = await orchestrator.exec({ code: 'export default 7', runner: 'plain', isolation: 'none' });
  expect(result).toMatchObject({ outcome: 'succeeded', value: 7, runner: 'plain', isolation: 'none' });
  const bomb = await orchestrator.exec({
    code: 'const held = []; for (;;) held.push(Buffer.alloc(10 << 20, 1));',
    runner: 'plain',
    isolation: 'none',
    limits: { memoryMib: 128 },
  });
  expect(bomb.outcome).toBe('out_of_memory');
});

it('a missing runner is refused with the names of the given ones', async () => {
  await using orchestrator = createOrchestrator({ runners: [createPlainRunner()] });
  await expect(orchestrator.exec({ code: '1', runner: 'plan' })).rejects.toMatchObject({
    code: 'runner.unavailable',
    message: expect.stringContaining('no runner plan here, only plain') as string,
  });
});
