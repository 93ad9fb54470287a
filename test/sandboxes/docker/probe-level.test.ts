import { once } from 'node:events';
import { expect, it } from 'vitest';
import { createDockerRunner } from '../../../src/sandboxes/docker/docker-runner.ts';
import { probeContainer } from '../../../src/sandboxes/docker/docker-runner.ts';

it('a probe that is not wanted any more begins nothing', async () => {
  await using runner = createDockerRunner({ host: 'unix:///nowhere/engine.sock', kernelRuntime: 'runsc' });
  const signal = AbortSignal.abort(new Error('nobody asks any more'));
  expect(await runner.probe({ signal })).toMatchObject([
    { isolation: 'kernel', available: false, reasons: [expect.any(String), 'nobody asks any more'] },
    { isolation: 'container', available: false, reasons: ['nobody asks any more'] },
  ]);
});

it('an abort ends the start that a probe waits for', async () => {
  const asking = new AbortController();
  const start = async (_spec: unknown, { signal }: { signal: AbortSignal }): Promise<never> => {
    asking.abort(new Error('nobody asks any more'));
    if (!signal.aborted) await once(signal, 'abort');
    throw signal.reason;
  };
  expect(await probeContainer(start, asking.signal)).toMatchObject({
    available: false,
    reasons: ['nobody asks any more'],
  });
});
