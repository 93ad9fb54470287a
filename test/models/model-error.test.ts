import { APICallError } from 'ai';
import { describe, expect, it } from 'vitest';
import { describeModelError, judgeModelError } from '../../src/models/gateways/ask-sdk-model.ts';

const SERVICE = { id: 'p/m', origin: 'https://m.test', secrets: ['canary'] };

function answered(statusCode: number | undefined, isRetryable: boolean, retryAfter?: string): APICallError {
  return new APICallError({
    message: 'said',
    url: 'https://m.test/v1',
    requestBodyValues: {},
    isRetryable,
    ...(statusCode === undefined ? {} : { statusCode }),
    ...(retryAfter === undefined ? {} : { responseHeaders: { 'retry-after': retryAfter } }),
  });
}

function described(error: unknown): [string, string] {
  const { code, message, cause } = describeModelError(error, SERVICE);
  expect(cause).toBeUndefined();
  return [code, message];
}

describe('describeModelError()', () => {
  it.each([
    ['an error without a response', new Error('odd'), 'model.failed', ': the request failed with "odd"'],
    ['a value that is not an error', 'odd', 'model.failed', ': the request failed with "odd"'],
    ['a lost connection', answered(undefined, true), 'model.failed', ': there is no connection ("said")'],
    ['an unreadable success', answered(200, false), 'model.failed', ': the answer cannot be read ("said")'],
    ['a redirect', answered(300, false), 'model.refused', ': the service answered HTTP 300 ("said")'],
    ['a refusal', answered(401, false), 'model.refused', ': the service answered HTTP 401 ("said")'],
    ['a service in trouble', answered(503, true), 'model.failed', ': the service answered HTTP 503 ("said")'],
  ])('explains %s', (_what, error, code, said) => {
    expect(described(error)).toEqual([code, `Cannot ask p/m at https://m.test${said}.`]);
  });

  it('repeats no secret, no line break, and 300 characters at most', () => {
    expect(described(new Error('a canary\n\t sang'))[1]).toContain('failed with "a [redacted] sang".');
    expect(described(new Error('x'.repeat(400)))[1]).toContain(`failed with "${'x'.repeat(300)}".`);
  });
});

describe('judgeModelError()', () => {
  it('retries errors that the SDK calls retryable, after the wait that the service asks for', () => {
    expect(judgeModelError(answered(429, true, '3'))).toEqual({ retry: true, retryAfterMs: 3_000 });
    expect(judgeModelError(answered(401, false))).toMatchObject({ retry: false });
    expect(judgeModelError(new Error('odd'))).toEqual({ retry: false });
  });
});
