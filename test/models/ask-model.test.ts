import { describe, expect, it } from 'vitest';
import { askModel } from '../../src/models/ask-model.ts';
import { createModelBudget } from '../../src/models/model-budget.ts';
import type { ModelAnswer, ModelGateway } from '../../src/models/model-gateway.ts';
import { ModelTimeoutError } from '../../src/models/model-timeout-error.ts';

const request = { system: 's', messages: [{ role: 'user' as const, content: 'm' }] };
const live = new AbortController().signal;
const gateway = (given: unknown): ModelGateway => ({
  id: 'test/odd',
  generate: () => Promise.resolve(given as ModelAnswer),
});
const ask = (given: unknown, more: object = {}) =>
  askModel(request, { gateway: gateway(given), modelName: undefined, timeoutMs: 1_000, signal: live, ...more });

describe('the answer of any gateway', () => {
  it.each([undefined, null, 'text', {}, { text: 1 }, { text: null }, [], { text: 'x'.repeat(2 * 1024 * 1024 + 1) }])(
    'is no answer without a text (%#)',
    async (given) => {
      await expect(ask(given)).rejects.toMatchObject({ code: 'model.failed' });
    },
  );

  it.each([
    {},
    { usage: null },
    { usage: { inputTokens: Number.NaN, outputTokens: -1 } },
    { usage: { inputTokens: '5' } },
  ])('may lack its usage or garble it (%#)', async (more) => {
    const budget = createModelBudget({ inputTokens: 10, outputTokens: 10 });
    expect(await ask({ text: 'a', ...more }, { budget })).toEqual({
      text: 'a',
      usage: { inputTokens: null, outputTokens: null },
      model: 'test/odd',
      finishReason: 'other',
    });
    expect(budget.reached).toBeUndefined();
  });

  it('may throw when it is read, without leaking a key', async () => {
    const key = `sk-${'a1B2'.repeat(10)}`;
    const hostile = {
      get text(): never {
        throw new Error(`no answer for ${key}`);
      },
    };
    const failure: unknown = await ask(hostile).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'model.failed', message: expect.stringContaining('no answer') as string });
    expect((failure as Error).message).not.toContain(key);
  });
});

it('reports a request before it is made, and its answer, and asks for the named model', async () => {
  const told: unknown[] = [];
  const asked: unknown[] = [];
  const model: ModelGateway = {
    id: 'test/model',
    async generate(given) {
      asked.push(given);
      return { text: 'a', usage: { inputTokens: 1, outputTokens: 2 }, model: 'test/model', finishReason: 'stop' };
    },
  };
  const options = { gateway: model, modelName: 'test/other', timeoutMs: 1_000, signal: live };
  await askModel(request, {
    ...options,
    observe: (given) => {
      told.push(given.model, asked.length);
      return ({ text }) => void told.push(text);
    },
  });
  expect(told).toEqual(['test/other', 0, 'a']);
  expect(asked).toEqual([{ ...request, model: 'test/other' }]);
});

it('distinguishes zero tokens from unknown usage, and leaves no timer behind', async () => {
  const clocks = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = clocks();
  const { usage } = await ask({ text: 'a', usage: { inputTokens: 0, outputTokens: 0 } });
  expect(usage).toEqual({ inputTokens: 0, outputTokens: 0 });
  expect(clocks()).toBe(before);
});

it('asks and counts nothing once its signal is aborted', async () => {
  const budget = createModelBudget({ modelCalls: 1 });
  const told: unknown[] = [];
  const over = { budget, signal: AbortSignal.abort(new Error('over')), observe: () => told.push(1) };
  await expect(ask({ text: 'a' }, over)).rejects.toThrow('over');
  expect(told).toEqual([]);
  await ask({ text: 'a' }, { budget });
});

it('ends with its deadline, or with its signal', async () => {
  const silent: ModelGateway = { id: 'test/silent', generate: () => new Promise(() => undefined) };
  const options = { gateway: silent, modelName: undefined, timeoutMs: 20, signal: live };
  await expect(askModel(request, options)).rejects.toBeInstanceOf(ModelTimeoutError);
  const reason = new Error('over');
  await expect(askModel(request, { ...options, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
});

it.each([
  [
    new Error('401 with Bearer abcdef0123456789 at /home/ada/keys\nand more'),
    /^Cannot ask test\/odd: the gateway failed with "Error: 401 with \[redacted\] at \[path\]"\.$/,
  ],
  ['a text', /failed with "a text"/],
  [undefined, /failed with "undefined"/],
  [new TypeError('odd'), /failed with "TypeError: odd"/],
])('reports an error of a gateway as a failure of the model: %s', async (thrown, message) => {
  for (const generate of [
    // oxlint-disable-next-line prefer-promise-reject-errors -- the same
    () => Promise.reject(thrown),
    () => {
      // oxlint-disable-next-line only-throw-error -- a third-party gateway may do so
      throw thrown;
    },
  ]) {
    const failing = { gateway: { id: 'test/odd', generate }, modelName: undefined, timeoutMs: 1_000, signal: live };
    const failure: unknown = await askModel(request, failing).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'model.failed', message: expect.stringMatching(message) as string });
    expect((failure as Error).cause).toBeUndefined();
  }
});
