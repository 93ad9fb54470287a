import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createJobEnding } from '../../src/orchestrator/job-ending.ts';
import type { PreparedJob } from '../../src/orchestrator/prepare-job.ts';
import type { SandboxSession } from '../../src/orchestrator/sandbox-session.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('sets no clock again once it was released: an approval is withdrawn a moment after the end of its job', () => {
  const job = { limits: { jobTimeoutMs: 1_000, graceMs: 100 } } as PreparedJob;
  const session = { heardAt: 0, channel: { send: () => undefined } } as unknown as SandboxSession;
  const ending = createJobEnding(job, session, new AbortController().signal);
  ending.setClock(false);
  ending.setClock(true);
  expect(vi.getTimerCount()).toBe(1);
  ending.setClock(false);
  ending.release();
  ending.setClock(true);
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(10_000);
  expect(ending.canceledFor).toBeUndefined();
});
