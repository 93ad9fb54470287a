import { expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../../src/contracts/jobs/limits.ts';
import { createLocalRunner } from '../../../src/sandboxes/local/local-runner.ts';

it('an aborted start does not look for its runtime', async () => {
  await using runner = createLocalRunner({ bundle: { folder: '/nowhere', digest: 'sha256:0', files: { a: 'b' } } });
  const spec = { isolation: 'namespace', language: 'bash', limits: DEFAULT_LIMITS } as const;
  const reason = new Error('the job was canceled');
  await expect(runner.start(spec, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  await expect(runner.start(spec, { signal: new AbortController().signal })).rejects.not.toBe(reason);
});
