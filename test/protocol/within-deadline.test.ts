import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { withinDeadline } from '../../src/protocol/within-deadline.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const NEVER = new Promise<never>(() => undefined);
const unexpected = (): never => {
  throw new Error('the deadline passed');
};

describe('withinDeadline()', () => {
  it('returns the result of the step, or throws its error', async () => {
    expect(await withinDeadline(Promise.resolve(7), { limitMs: 10, overdue: unexpected })).toBe(7);
    const failure = new Error('the step failed');
    await expect(withinDeadline(Promise.reject(failure), { limitMs: 10, overdue: unexpected })).rejects.toBe(failure);
  });

  it('returns a plain value', async () => {
    const over = new AbortController();
    const answered: unknown = { allow: true };
    expect(await withinDeadline(answered, { limitMs: 10, overdue: unexpected, signal: over.signal })).toBe(answered);
    // No listener is left: an unhandled rejection would end the process.
    expect(getEventListeners(over.signal, 'abort')).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('returns or throws the outcome of `overdue` when the limit passes, not before', async () => {
    const asked = vi.fn(() => 'late');
    const waited = withinDeadline<string>(NEVER, { limitMs: 50, overdue: asked });
    const refused = withinDeadline(NEVER, { limitMs: 50, overdue: unexpected });
    const refusal = expect(refused).rejects.toThrow('the deadline passed');
    await vi.advanceTimersByTimeAsync(49);
    expect(asked).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(await waited).toBe('late');
    await refusal;
  });

  it('ends with the reason of an abort, also if the abort precedes a finished step', async () => {
    const reason = new Error('not wanted');
    const abort = new AbortController();
    const waited = withinDeadline(NEVER, { limitMs: 50, overdue: unexpected, signal: abort.signal });
    abort.abort(reason);
    await expect(waited).rejects.toBe(reason);
    const signal = AbortSignal.abort(reason);
    await expect(withinDeadline(Promise.resolve(1), { limitMs: 50, overdue: unexpected, signal })).rejects.toBe(reason);
  });

  it('leaves neither a timer nor a listener', async () => {
    const { signal } = new AbortController();
    const waiting = withinDeadline(Promise.resolve(1), { limitMs: 50, overdue: unexpected, signal });
    expect(vi.getTimerCount()).toBe(1);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    await waiting;
    expect(vi.getTimerCount()).toBe(0);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('handles the rejection of a step after its deadline', async () => {
    const { promise, reject } = Promise.withResolvers<number>();
    const waited = withinDeadline(promise, { limitMs: 5, overdue: () => 0 });
    await vi.advanceTimersByTimeAsync(5);
    expect(await waited).toBe(0);
    reject(new Error('later'));
    await vi.advanceTimersByTimeAsync(5);
  });
});
