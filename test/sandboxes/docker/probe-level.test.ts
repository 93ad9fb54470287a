import { once } from 'node:events';
import { expect, it } from 'vitest';
import { createDockerRunner } from '../../../src/sandboxes/docker/docker-runner.ts';
import { probeContainer } from '../../../src/sandboxes/docker/docker-runner.ts';

it('an aborted probe starts no container', async () => {
  await using runner = createDockerRunner({ host: 'unix:///nowhere/engine.sock', kernelRuntime: 'runsc' });
  const signal = AbortSignal.abort(new Error('the probe was aborted'));
  expect(await runner.probe({ signal })).toMatchObject([
    { isolation: 'kernel', available: false, reasons: [expect.any(String), 'the probe was aborted'] },
    { isolation: 'container', available: false, reasons: ['the probe was aborted'] },
  ]);
});

it('an abort ends the start under way of a probe', async () => {
  const asking = new AbortController();
  const start = async (_spec: unknown, { signal }: { signal: AbortSignal }): Promise<never> => {
    asking.abort(new Error('the probe was aborted'));
    if (!signal.aborted) await once(signal, 'abort');
    throw signal.reason;
  };
  expect(await probeContainer(start, asking.signal)).toMatchObject({
    available: false,
    reasons: ['the probe was aborted'],
  });
});
