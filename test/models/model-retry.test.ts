import { describe, expect, test, vi } from 'vitest';
import {
  DEFAULT_MODEL_RETRY,
  readRetryAfter,
  retryDelayMs,
  retryModelRequest,
} from '../../src/models/gateways/model-retry.ts';

const options = DEFAULT_MODEL_RETRY;

describe('retryDelayMs()', () => {
  test('doubles, and spreads between half and the whole of the wait', () => {
    expect([1, 2, 3].map((attempt) => retryDelayMs(attempt, undefined, options, 1))).toEqual([500, 1000, 2000]);
    expect([1, 2, 3].map((attempt) => retryDelayMs(attempt, undefined, options, 0))).toEqual([250, 500, 1000]);
  });

  test('is never shorter than the service asks for, and never over the maximum', () => {
    expect(retryDelayMs(1, 4_000, options, 0)).toBe(4_000);
    expect(retryDelayMs(1, 4_000, options, 1)).toBe(4_500);
    expect(retryDelayMs(1, 3_600_000, options, 0.5)).toBe(30_000);
    expect(retryDelayMs(40, undefined, options, 1)).toBe(30_000);
  });
});

describe('readRetryAfter()', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');

  test.each([
    [{ 'retry-after': '3' }, 3_000],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:07 GMT' }, 7_000],
    [{ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, 0],
    [{ 'retry-after-ms': '250', 'retry-after': '3' }, 250],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '-5x' }, undefined],
    [{}, undefined],
    [undefined, undefined],
  ])('reads %j', (headers, expected) => {
    expect(readRetryAfter(headers as Record<string, string> | undefined, now)).toBe(expected);
  });
});

describe('retryModelRequest()', () => {
  const fast = { tries: 4, baseDelayMs: 1, maximumDelayMs: 5 };
  const live = new AbortController().signal;

  test('stops at an error that no retry can fix', async () => {
    const request = vi.fn(() => Promise.reject(new Error('final')));
    await expect(retryModelRequest(request, () => ({ retry: false }), live, fast)).rejects.toThrow('final');
    expect(request).toHaveBeenCalledOnce();
  });

  test('throws the last error after four tries', async () => {
    const request = vi.fn(() => Promise.reject(new Error(`try ${request.mock.calls.length}`)));
    await expect(retryModelRequest(request, () => ({ retry: true }), live, fast)).rejects.toThrow('try 4');
    expect(request).toHaveBeenCalledTimes(4);
  });

  test('makes no request for an aborted signal', async () => {
    const request = vi.fn(() => Promise.resolve(1));
    const reason = new Error('over');
    await expect(retryModelRequest(request, () => ({ retry: true }), AbortSignal.abort(reason), fast)).rejects.toBe(
      reason,
    );
    expect(request).not.toHaveBeenCalled();
  });
});
