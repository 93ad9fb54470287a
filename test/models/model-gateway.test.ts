import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createBroker } from '../../src/tools/calls/broker.ts';
import { createModelGateway } from '../../src/models/gateways/create-model-gateway.ts';
import type { ModelGateway, ModelRequest } from '../../src/models/model-gateway.ts';
import type { ModelSettings } from '../../src/models/gateways/model-settings.ts';
import { recordingGateway } from '../../src/models/recordings/recording-gateway.ts';
import { SkillcellError } from '../../src/contracts/errors/skillcell-error.ts';
import {
  startModelStandIn,
  type ModelStandIn,
  type StandInAnswer,
  type StandInHandler,
} from '../fixtures/model-stand-in.ts';
import { until } from '../fixtures/until.ts';

const KEY = 'canary-key-91f3';
const live = new AbortController().signal;
const request: ModelRequest = {
  system: 'Be short.',
  messages: [
    { role: 'user', content: 'one' },
    { role: 'assistant', content: 'two' },
    { role: 'user', content: 'three' },
  ],
};
const started: ModelStandIn[] = [];

afterEach(async () => {
  for (const standIn of started.splice(0)) await standIn.close();
});

async function standIn(answers: readonly StandInAnswer[] | StandInHandler): Promise<ModelStandIn> {
  const running = await startModelStandIn(answers);
  started.push(running);
  return running;
}

function gateway(baseUrl: string, options: Partial<ModelSettings> = {}): ModelGateway {
  return createModelGateway(
    { provider: 'openai-compatible', model: 'test-model', baseUrl, apiKey: KEY, ...options },
    { retry: { baseDelayMs: 10 } },
  );
}

async function failureOf(promise: Promise<unknown>): Promise<SkillcellError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!SkillcellError.isInstance(error)) throw new Error(`no SkillcellError, got ${inspect(error)}`);
  return error;
}

describe('an OpenAI-compatible service', () => {
  test('gets system prompt, messages, model and key, and its answer is returned', async () => {
    const service = await standIn([{ text: 'four', usage: { inputTokens: 21, outputTokens: 3 } }]);
    const answer = await gateway(service.baseUrl).generate(request, { signal: live });
    expect(answer).toEqual({
      text: 'four',
      usage: { inputTokens: 21, outputTokens: 3 },
      model: 'openai-compatible/test-model',
      finishReason: 'stop',
    });
    expect(service.requests).toHaveLength(1);
    expect(service.requests[0]).toMatchObject({
      path: '/v1/chat/completions',
      model: 'test-model',
      system: request.system,
      messages: request.messages,
      headers: { authorization: `Bearer ${KEY}` },
    });
  });

  test('is asked for the model that the request names, and for no model of another provider', async () => {
    const service = await standIn(['a']);
    const asked = await gateway(service.baseUrl).generate(
      { ...request, model: 'openai-compatible/org/large', maxOutputTokens: 77 },
      { signal: live },
    );
    expect(asked.model).toBe('openai-compatible/org/large');
    expect(JSON.parse(service.requests[0]?.raw ?? '')).toMatchObject({ model: 'org/large', max_tokens: 77 });
    const other = gateway(service.baseUrl).generate({ ...request, model: 'anthropic/x' }, { signal: live });
    expect((await failureOf(other)).code).toBe('model.not-configured');
    expect(service.requests).toHaveLength(1);
  });

  test('reports that it cut the answer off', async () => {
    const service = await standIn([{ text: 'fo', finishReason: 'length' }]);
    expect((await gateway(service.baseUrl).generate(request, { signal: live })).finishReason).toBe('length');
  });

  test('without a key gets no authorization header', async () => {
    const service = await standIn(['a']);
    const keyless = createModelGateway({ provider: 'openai-compatible', model: 'm', baseUrl: service.baseUrl });
    await keyless.generate(request, { signal: live });
    expect(service.requests[0]?.headers.authorization).toBeUndefined();
  });
});

describe('an Anthropic service', () => {
  test('gets system prompt, messages, model and key in its own form', async () => {
    const service = await standIn([{ text: 'four', usage: { inputTokens: 21, outputTokens: 3 } }]);
    const answer = await gateway(service.baseUrl, { provider: 'anthropic', model: 'claude-test' }).generate(request, {
      signal: live,
    });
    expect(answer).toEqual({
      text: 'four',
      usage: { inputTokens: 21, outputTokens: 3 },
      model: 'anthropic/claude-test',
      finishReason: 'stop',
    });
    expect(service.requests[0]).toMatchObject({
      path: '/v1/messages',
      model: 'claude-test',
      system: request.system,
      messages: request.messages,
      headers: { 'x-api-key': KEY },
    });
  });

  test('without a configured key never gets the key of the environment', async () => {
    vi.stubEnv('ANTHROPIC_API_KEY', KEY);
    const service = await standIn(['a']);
    const keyless = createModelGateway({ provider: 'anthropic', model: 'm', baseUrl: service.baseUrl });
    await keyless.generate(request, { signal: live });
    vi.unstubAllEnvs();
    expect(JSON.stringify(service.requests[0]?.headers)).not.toContain(KEY);
  });

  test('is asked again after 529 overloaded', async () => {
    const service = await standIn([{ status: 529, message: 'Overloaded' }, 'ok']);
    const answer = await gateway(service.baseUrl, { provider: 'anthropic' }).generate(request, { signal: live });
    expect(answer.text).toBe('ok');
  });
});

describe('a service in trouble', () => {
  test('429 with Retry-After: the next try waits as long as asked', async () => {
    const service = await standIn([{ status: 429, headers: { 'retry-after': '0.4' } }, 'ok']);
    expect((await gateway(service.baseUrl).generate(request, { signal: live })).text).toBe('ok');
    const [first, second] = service.requests;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(395);
  });

  test.each([408, 500, 502, 503])('HTTP %i twice, then an answer', async (status) => {
    const service = await standIn([{ status }, { status }, 'ok']);
    expect((await gateway(service.baseUrl).generate(request, { signal: live })).text).toBe('ok');
    expect(service.requests).toHaveLength(3);
  });

  test('a cut connection, then an answer', async () => {
    const service = await standIn([{ cut: true }, 'ok']);
    expect((await gateway(service.baseUrl).generate(request, { signal: live })).text).toBe('ok');
  });

  test('four 500s are enough: model.failed', async () => {
    const service = await standIn(() => ({ status: 500, message: 'on fire' }));
    const failure = await failureOf(gateway(service.baseUrl).generate(request, { signal: live }));
    expect(failure.code).toBe('model.failed');
    expect(failure.message).toMatch(/^Cannot ask openai-compatible\/test-model at .*HTTP 500 \("on fire"\)\.$/);
    expect(service.requests).toHaveLength(4);
  });

  test('connection refused: tried again, then model.failed', async () => {
    const service = await standIn([]);
    await service.close();
    const failure = await failureOf(gateway(service.baseUrl).generate(request, { signal: live }));
    expect(failure.code).toBe('model.failed');
    expect(failure.message).toMatch(/no connection \(".*ECONNREFUSED/);
  });

  test.each([401, 403, 404, 400])('HTTP %i is refused at once', async (status) => {
    const service = await standIn(() => ({ status, message: 'no such key or model' }));
    const failure = await failureOf(gateway(service.baseUrl).generate(request, { signal: live }));
    expect(failure.code).toBe('model.refused');
    expect(failure.entry.exitCode).toBe(3);
    expect(failure.message).toContain('no such key or model');
    expect(service.requests).toHaveLength(1);
  });

  test('a redirect is not followed: the key would travel along', async () => {
    const elsewhere = await standIn(['stolen']);
    const location = `${elsewhere.baseUrl}/chat/completions`;
    const service = await standIn([{ status: 307, headers: { location } }]);
    const failure = await failureOf(gateway(service.baseUrl).generate(request, { signal: live }));
    expect(failure.code).toBe('model.refused');
    expect(elsewhere.requests).toHaveLength(0);
  });

  test.each(['<html>hello</html>', '{"choices": [', '{"choices": 5}', ''])(
    'the body %j is model.failed',
    async (body) => {
      const service = await standIn(() => ({ status: 200, body }));
      const failure = await failureOf(gateway(service.baseUrl).generate(request, { signal: live }));
      expect(failure.code).toBe('model.failed');
    },
  );

  test('an abort ends a hanging request, and the wait between tries, with its reason', async () => {
    const reason = new Error('canceled by the test');
    const hanging = await standIn(() => ({ hang: true }));
    const first = new AbortController();
    const request1 = gateway(hanging.baseUrl).generate(request, { signal: first.signal });
    await until(() => hanging.requests.length === 1, 'the request');
    first.abort(reason);
    await expect(request1).rejects.toBe(reason);

    const limited = await standIn(() => ({ status: 429, headers: { 'retry-after': '20' } }));
    const second = new AbortController();
    const request2 = gateway(limited.baseUrl).generate(request, { signal: second.signal });
    await until(() => limited.requests.length === 1, 'the request');
    second.abort(reason);
    await expect(request2).rejects.toBe(reason);
    expect(limited.requests).toHaveLength(1);
  });
});

describe('through the broker', () => {
  const ask = { id: 1, target: 'model' as const, name: 'generate', args: request };
  const limits = { calls: 100, modelTimeoutMs: 5_000, approvalTimeoutMs: 1_000 };

  test('the sandbox gets the answer', async () => {
    const service = await standIn(['hello']);
    const broker = createBroker({ jobId: 'j', tools: new Map(), model: gateway(service.baseUrl), limits });
    expect(await broker.call(ask, { signal: live })).toMatchObject({ ok: true, value: { text: 'hello' } });
    expect(broker.rows).toMatchObject([{ id: 1, target: 'model', name: 'generate', ok: true }]);
    expect(broker.modelFailure).toBeUndefined();
  });

  test('a request over its deadline is a ModelTimeout, for the sandbox and for the host', async () => {
    const service = await standIn(() => ({ hang: true }));
    const model = gateway(service.baseUrl);
    const broker = createBroker({ jobId: 'j', tools: new Map(), model, limits: { ...limits, modelTimeoutMs: 150 } });
    const reply = await broker.call(ask, { signal: live });
    expect(reply).toEqual({
      ok: false,
      error: { code: 'model.timeout', message: 'The model did not answer within 150 ms.' },
    });
    expect(broker.modelFailure?.name).toBe('ModelTimeout');
  });

  test('a refused key is reported to the host only; the sandbox learns no address', async () => {
    const service = await standIn([{ status: 401, message: 'bad key' }]);
    const broker = createBroker({ jobId: 'j', tools: new Map(), model: gateway(service.baseUrl), limits });
    const reply = await broker.call(ask, { signal: live });
    expect(reply).toEqual({
      ok: false,
      error: { code: 'model.failed', message: 'The model gave no usable answer.' },
    });
    expect(broker.modelFailure).toMatchObject({ code: 'model.refused' });
  });

  test('a canceled job is no failure of the model', async () => {
    const service = await standIn(() => ({ hang: true }));
    const broker = createBroker({ jobId: 'j', tools: new Map(), model: gateway(service.baseUrl), limits });
    const cancel = new AbortController();
    const pending = broker.call(ask, { signal: cancel.signal });
    await until(() => service.requests.length === 1, 'the request');
    cancel.abort();
    expect(await pending).toMatchObject({ error: { code: 'tool.job-over' } });
    expect(broker.modelFailure).toBeUndefined();
  });

  test('the host chooses the model; a sandbox that names another one is refused', async () => {
    const service = await standIn(['a', 'b']);
    const modelName = 'openai-compatible/chosen';
    const model = gateway(service.baseUrl);
    const broker = createBroker({ jobId: 'j', tools: new Map(), model, modelName, limits });
    const args = { ...request, model: 'openai-compatible/expensive' };
    expect(await broker.call({ ...ask, args }, { signal: live })).toMatchObject({
      error: { code: 'tool.not-allowed' },
    });
    expect(await broker.call({ ...ask, id: 2 }, { signal: live })).toMatchObject({ value: { model: modelName } });
    expect(service.requests.map(({ model: asked }) => asked)).toEqual(['chosen']);
  });

  test('a job without a model, a request of another form and one too many are refused', async () => {
    const service = await standIn(['a', 'b']);
    const bare = createBroker({ jobId: 'j', tools: new Map(), limits });
    expect(await bare.call(ask, { signal: live })).toMatchObject({
      error: { message: expect.stringMatching(/no model/) },
    });
    const model = gateway(service.baseUrl);
    const broker = createBroker({ jobId: 'j', tools: new Map(), model, modelCalls: 2, limits });
    const system = { role: 'system', content: 'x' };
    for (const args of [
      { ...request, headers: {} },
      { ...request, messages: [system] },
      { ...request, system: 1 },
      null,
    ]) {
      const id = broker.rows.length + 10;
      expect(await broker.call({ ...ask, id, args }, { signal: live })).toMatchObject({
        ok: false,
      });
    }
    expect(service.requests).toHaveLength(0);
  });

  test('a job cannot exceed its number of model requests', async () => {
    const service = await standIn(() => 'a');
    const model = gateway(service.baseUrl);
    const broker = createBroker({ jobId: 'j', tools: new Map(), model, modelCalls: 2, limits });
    const replies = [];
    for (const id of [1, 2, 3]) replies.push(await broker.call({ ...ask, id }, { signal: live }));
    expect(replies.map(({ ok }) => ok)).toEqual([true, true, false]);
    expect(service.requests).toHaveLength(2);
  });
});

describe('the key', () => {
  const echoes: StandInHandler = (incoming) => ({
    status: 401,
    message: `Incorrect API key provided: ${String(incoming.headers.authorization)}`,
  });

  test('is in no error of a service that repeats it, however the error is printed', async () => {
    const service = await standIn(echoes);
    const failure = await failureOf(gateway(service.baseUrl).generate(request, { signal: live }));
    expect(failure.message).toContain('[redacted]');
    const { message, stack, hint, cause } = failure;
    const printed = inspect(failure, { depth: 20, showHidden: true }) + JSON.stringify({ message, stack, hint, cause });
    expect(printed).not.toContain(KEY);
    expect(service.requests[0]?.headers.authorization).toContain(KEY);
  });

  test('is in no error of a failed or garbled request either', async () => {
    for (const answer of [
      { status: 500, message: `key ${KEY}` },
      { status: 200, body: `<${KEY}>` },
    ]) {
      const service = await standIn(() => answer);
      const failure = await failureOf(gateway(service.baseUrl).generate(request, { signal: live }));
      expect(inspect(failure, { depth: 20, showHidden: true })).not.toContain(KEY);
    }
  });

  test('is in no answer, no reply, no row and no recording', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'skillcell-recording-'));
    try {
      const file = join(folder, 'recording.json');
      const service = await standIn((incoming) => `your key is ${String(incoming.headers.authorization)}`);
      const model = recordingGateway(gateway(service.baseUrl), file);
      const broker = createBroker({
        jobId: 'j',
        tools: new Map(),
        model,
        limits: { calls: 10, modelTimeoutMs: 5_000, approvalTimeoutMs: 1_000 },
      });
      const call = { id: 1, target: 'model' as const, name: 'generate', args: request };
      const reply = await broker.call(call, { signal: live });
      expect(reply).toMatchObject({ value: { text: 'your key is Bearer [redacted]' } });
      expect(JSON.stringify([reply, broker.rows]) + (await readFile(file, 'utf8'))).not.toContain(KEY);
      expect(inspect(model, { depth: 20, showHidden: true })).not.toContain(KEY);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
