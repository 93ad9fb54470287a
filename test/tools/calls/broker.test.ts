import { afterEach, describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { createBroker, type Broker, type BrokerOptions } from '../../../src/tools/calls/broker.ts';
import type { ToolCallCode } from '../../../src/contracts/errors/tool-call-codes.ts';
import {
  type BrokerCall,
  type BrokerReply,
  MODEL_CALL,
  TOOL_JSON_BYTES,
} from '../../../src/tools/calls/broker-call.ts';
import { deferred } from '../../fixtures/deferred.ts';
import { until } from '../../fixtures/until.ts';
import { describeTool, offerTool, type OfferedTool } from '../../../src/tools/define/offered-tool.ts';
import type { Tool, ToolContext } from '../../../src/tools/define/tool.ts';
import { ToolCallError, ToolError } from '../../../src/tools/define/tool-errors.ts';

const live = new AbortController().signal;
const brokers: Broker[] = [];

afterEach(() => {
  for (const broker of brokers.splice(0)) broker.close();
});

type GivenTool = Tool['execute'] | Omit<Tool, 'id'>;

const offer = (id: string, given: GivenTool): Promise<OfferedTool> =>
  offerTool(typeof given === 'function' ? { id, description: id, execute: given } : { id, ...given });

async function brokerWith(tools: Record<string, GivenTool>, options: Partial<BrokerOptions> = {}): Promise<Broker> {
  const offered = Object.entries(tools).map(async ([id, given]) => [id, await offer(id, given)] as const);
  const broker = createBroker({
    jobId: 'job-1',
    tools: new Map(await Promise.all(offered)),
    limits: { calls: 1000, modelTimeoutMs: 1000, approvalTimeoutMs: 1_000 },
    ...options,
  });
  brokers.push(broker);
  return broker;
}

const tool = (id: number, name: string, args: unknown = {}): BrokerCall => ({ id, target: 'tool', name, args });
const refused = (code: ToolCallCode, reason: RegExp) => ({
  ok: false,
  error: { code, message: expect.stringMatching(reason) as string },
});

describe('a valid call', () => {
  test('aborts the signal of its tool once it is answered, even if the tool reads the signal late', async () => {
    const seen: AbortSignal[] = [];
    const kept: ToolContext[] = [];
    const broker = await brokerWith({
      early: async (_args, { signal }) => seen.push(signal),
      late: async (_args, around) => kept.push(around),
    });
    await broker.call(tool(1, 'early'), { signal: live });
    await broker.call(tool(2, 'late'), { signal: live });
    for (const signal of [...seen, ...kept.map((around) => around.signal)]) {
      expect(signal.aborted).toBe(true);
      expect(signal.reason).toMatchObject({ message: 'The call is over.' });
    }
    expect([seen, kept].map(({ length }) => length)).toEqual([1, 1]);
  });

  test('aborts a tool at its deadline with a TimeoutError, like AbortSignal.timeout()', async () => {
    const told = deferred<string>();
    const execute: Tool['execute'] = async (_args, { signal }) => {
      signal.addEventListener('abort', () => told.resolve((signal.reason as Error).name));
      return await new Promise(() => undefined);
    };
    const broker = await brokerWith({ slow: { description: 'Slow.', timeoutMs: 5, execute } });
    expect(await broker.call(tool(1, 'slow'), { signal: live })).toEqual(refused('tool.timeout', /took longer/));
    expect(await told.promise).toBe('TimeoutError');
  });

  test('applies the deadline of its tool to functions in the schema too', async () => {
    const never = (): Promise<boolean> => new Promise(() => undefined);
    const input = z.object({ a: z.string().refine(never) });
    const execute: Tool['execute'] = async () => 1;
    const broker = await brokerWith({ slow: { description: 'Slow.', timeoutMs: 5, input, execute } });
    expect(await broker.call(tool(1, 'slow', { a: '' }), { signal: live })).toEqual(
      refused('tool.timeout', /^The tool slow took longer than 0.005 s\.$/),
    );
  });

  test('fails with a code of the list, even if the author of the tool uses another one', async () => {
    const broker = await brokerWith({
      own: () => Promise.reject(new ToolCallError('my.code' as ToolCallCode, 'not mine')),
      listed: () => Promise.reject(new ToolCallError('tool.limit', 'enough')),
    });
    expect(await broker.call(tool(1, 'own'), { signal: live })).toEqual(refused('tool.failed', /^not mine$/));
    expect(await broker.call(tool(2, 'listed'), { signal: live })).toEqual(refused('tool.limit', /^enough$/));
  });

  test('is allowed by an `approve` that answers at once', async () => {
    const execute: Tool['execute'] = async () => 1;
    const approve = (() => ({ allow: true })) as unknown as NonNullable<BrokerOptions['approve']>;
    const broker = await brokerWith({ asks: { description: 'Asks.', approval: 'always', execute } }, { approve });
    expect(await broker.call(tool(1, 'asks'), { signal: live })).toEqual({ ok: true, value: 1 });
  });

  test('returns the value of the tool and leaves a row', async () => {
    const broker = await brokerWith({ add: async (args) => (args as { a: number; b: number }).a + 1 });
    expect(await broker.call(tool(1, 'add', { a: 41 }), { signal: live })).toEqual({ ok: true, value: 42 });
    expect(broker.rows).toEqual([
      { id: 1, target: 'tool', name: 'add', ok: true, durationMs: expect.any(Number) as number },
    ]);
    expect(broker.exhausted).toBeUndefined();
  });

  test('has its row in order of start, not of end', async () => {
    const gate = deferred<void>();
    const broker = await brokerWith({ slow: () => gate.promise, fast: async () => 1 });
    const slow = broker.call(tool(1, 'slow'), { signal: live });
    await broker.call(tool(2, 'fast'), { signal: live });
    gate.resolve(undefined);
    await slow;
    expect(broker.rows.map(({ id, ok }) => [id, ok])).toEqual([
      [1, true],
      [2, true],
    ]);
  });

  test('returns undefined as null, and a copy without getters or prototypes', async () => {
    class Row {
      x = 1;
      get secret() {
        return 2;
      }
    }
    const broker = await brokerWith({ nothing: async () => undefined, row: async () => new Row() });
    expect(await broker.call(tool(1, 'nothing'), { signal: live })).toEqual({ ok: true, value: null });
    const reply = await broker.call(tool(2, 'row'), { signal: live });
    expect(reply).toStrictEqual({ ok: true, value: { x: 1 } });
  });

  test('waits while 16 other calls run', async () => {
    let running = 0;
    let most = 0;
    const broker = await brokerWith({
      count: async () => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setTimeout(resolve, 5));
        running -= 1;
      },
    });
    const replies = await Promise.all(
      Array.from({ length: 60 }, (_, index) => broker.call(tool(index + 1, 'count'), { signal: live })),
    );
    expect(most).toBe(16);
    expect(replies.every(({ ok }) => ok)).toBe(true);
  });

  test('keeps its place until the bytes of its answer are sent; without bytes it does not', async () => {
    const made = vi.fn(async (args: unknown) => (args === 'bytes' ? Buffer.from('bytes') : args));
    const broker = await brokerWith({ make: made });
    let id = 0;
    const call = (args: string): Promise<BrokerReply> => broker.call(tool((id += 1), 'make', args), { signal: live });
    const first = await Promise.all(Array.from({ length: 16 }, () => call('bytes')));
    const later = call('text');
    await new Promise(setImmediate);
    expect(made).toHaveBeenCalledTimes(16);
    for (const reply of first) if (reply.ok) reply.sent?.();
    expect(await later).toEqual({ ok: true, value: 'text' });
    expect(await Promise.all(Array.from({ length: 20 }, () => call('text')))).toHaveLength(20);
  });

  test('calls that would keep over 16 MiB of arguments waiting are refused', async () => {
    const gate = deferred<void>();
    const broker = await brokerWith({ hold: () => gate.promise });
    const args = { text: 'x'.repeat(250 * 1024) };
    const replies = Array.from({ length: 100 }, (_, index) =>
      broker.call(tool(index + 1, 'hold', args), { signal: live }),
    );
    gate.resolve(undefined);
    const settled = await Promise.all(replies);
    const rejected = settled.filter(({ ok }) => !ok);
    expect(rejected.length).toBeGreaterThan(10);
    expect(rejected.length).toBeLessThan(40);
    expect(rejected[0]).toEqual(refused('tool.limit', /too many calls wait/));
  });
});

test('a tool with maxCalls is called at most that often, and other tools still work', async () => {
  const execute = vi.fn(async () => 1);
  const broker = await brokerWith({ few: { description: 'Few.', maxCalls: 2, execute }, any: execute });
  const replies = [];
  for (let id = 1; id <= 4; id += 1) replies.push(await broker.call(tool(id, 'few'), { signal: live }));
  expect(replies.map(({ ok }) => ok)).toEqual([true, true, false, false]);
  expect(replies[2]).toEqual(refused('tool.limit', /may call few 2 times/));
  expect(await broker.call(tool(5, 'any'), { signal: live })).toEqual({ ok: true, value: 1 });
  expect(execute).toHaveBeenCalledTimes(3);
});

test('a call that is answered from the record does not count for maxCalls', async () => {
  const execute = vi.fn(async () => 'done');
  const once = { description: 'Once.', maxCalls: 1, execute };
  const broker = await brokerWith({ once }, { repeats: true });
  expect(await broker.call(tool(1, 'once'), { signal: live })).toEqual({ ok: true, value: 'done' });
  broker.beginAttempt(2);
  expect(await broker.call(tool(2, 'once'), { signal: live })).toEqual({ ok: true, value: 'done' });
  expect(await broker.call(tool(3, 'once', { other: 1 }), { signal: live })).toEqual(refused('tool.limit', /1 times/));
  expect(execute).toHaveBeenCalledOnce();
});

describe('arguments', () => {
  const parameters = {
    type: 'object',
    properties: { n: { type: 'number' } },
    required: ['n'],
    additionalProperties: false,
  };

  test.each([
    ['a zod schema', z.strictObject({ n: z.number() })],
    ['a JSON schema', parameters],
  ])('are checked against %s before the tool runs', async (_kind, schema) => {
    const execute = vi.fn(async (args: unknown) => args);
    const broker = await brokerWith({ echo: { description: 'echo', input: schema, execute } });
    expect(await broker.call(tool(1, 'echo', { n: 'x' }), { signal: live })).toEqual(
      refused('tool.invalid-arguments', /n: expected number/),
    );
    expect(await broker.call(tool(2, 'echo', { n: 1, more: 1 }), { signal: live })).toEqual(
      refused('tool.invalid-arguments', /do not fit/),
    );
    expect(execute).not.toHaveBeenCalled();
    expect(await broker.call(tool(3, 'echo', { n: 1 }), { signal: live })).toEqual({ ok: true, value: { n: 1 } });
  });

  test.each(['input', 'output'])('a tool whose %s cannot be enforced whole is not offered', async (side) => {
    const broken = { $ref: 'https://example.org/other.json' };
    const offering = offer('odd', { description: '', execute: async () => 1, [side]: broken });
    await expect(offering).rejects.toMatchObject({
      code: 'tool.schema-unsupported',
      message: expect.stringMatching(`^Cannot offer the ${side} of odd: .*"\\$ref"`),
    });
  });

  test('tools are described with a JSON schema of either kind', async () => {
    const execute = async () => null;
    const described = async (id: string, more: object) =>
      describeTool(await offer(id, { description: id, execute, ...more }));
    expect(await described('a', { input: z.strictObject({ n: z.number() }) })).toMatchObject({
      id: 'a',
      input: { properties: { n: { type: 'number' } }, required: ['n'] },
    });
    expect(await described('b', { input: parameters })).toEqual({ id: 'b', description: 'b', input: parameters });
    expect(await described('c', {})).toEqual({ id: 'c', description: 'c' });
  });

  test('of exactly 256 KiB are taken, one byte more is refused', async () => {
    const broker = await brokerWith({ size: async (args) => JSON.stringify(args).length });
    const empty = Buffer.byteLength(JSON.stringify({ text: '' }));
    const fitting = { text: 'x'.repeat(256 * 1024 - empty) };
    expect(await broker.call(tool(1, 'size', fitting), { signal: live })).toEqual({ ok: true, value: 256 * 1024 });
    const large = { text: `${fitting.text}x` };
    expect(await broker.call(tool(2, 'size', large), { signal: live })).toEqual(
      refused('tool.too-large', /over 262144 bytes/),
    );
  });
});

describe('attacks', () => {
  test.each([
    ['__proto__', '{"__proto__":{"polluted":1}}'],
    ['an escaped __proto__', '{"a":[{"\\u005f\\u005fproto__":{"polluted":1}}]}'],
    ['constructor.prototype', '{"constructor":{"prototype":{"polluted":1}}}'],
  ])('E03 %s in the arguments is refused and pollutes nothing', async (_name, json) => {
    const execute = vi.fn(async (args: unknown) => args);
    const broker = await brokerWith({ echo: execute });
    const reply = await broker.call(tool(1, 'echo', JSON.parse(json)), { signal: live });
    expect(reply).toEqual(refused('tool.invalid-arguments', /is not allowed/));
    expect(execute).not.toHaveBeenCalled();
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  test.each(['constructor', 'toString', '__proto__', 'hasOwnProperty', '../../admin', 'get', 'add\0'])(
    'E04 the name %j is no tool',
    async (name) => {
      const broker = await brokerWith({ add: async () => 1 });
      expect(await broker.call(tool(1, name), { signal: live })).toEqual(
        refused('tool.not-allowed', /does not have the tool/),
      );
    },
  );

  test.each(['constructor', 'toString', '__proto__', 'id'])(
    'E04 the name %j is no request to a model',
    async (name) => {
      const generate = vi.fn();
      const broker = await brokerWith({}, { model: { id: 'x/y', generate } });
      const call: BrokerCall = { id: 1, target: 'model', name, args: { system: '', messages: [] } };
      expect(await broker.call(call, { signal: live })).toEqual(
        refused('tool.not-allowed', /cannot be asked for this/),
      );
      expect(generate).not.toHaveBeenCalled();
    },
  );

  test('E05 a replayed id is refused and changes nothing', async () => {
    const execute = vi.fn(async () => 1);
    const broker = await brokerWith({ add: execute });
    await broker.call(tool(7, 'add'), { signal: live });
    const rows = structuredClone(broker.rows);
    expect(await broker.call(tool(7, 'add'), { signal: live })).toEqual(
      refused('tool.invalid-arguments', /used before/),
    );
    expect(broker.rows).toEqual(rows);
    expect(execute).toHaveBeenCalledOnce();
  });

  test('E05 an id that is in flight is refused', async () => {
    const gate = deferred<number>();
    const broker = await brokerWith({ wait: () => gate.promise });
    const first = broker.call(tool(1, 'wait'), { signal: live });
    expect(await broker.call(tool(1, 'wait'), { signal: live })).toEqual(
      refused('tool.invalid-arguments', /used before/),
    );
    gate.resolve(5);
    expect(await first).toEqual({ ok: true, value: 5 });
  });

  test('E06 the context names our job, even if the arguments name another', async () => {
    const execute = vi.fn(async (_args: unknown, context: ToolContext) => context.jobId);
    const broker = await brokerWith({ who: execute });
    const reply = await broker.call(tool(2, 'who', { jobId: 'job-2' }), { signal: live });
    expect(reply).toEqual({ ok: true, value: 'job-1' });
  });

  test('E09 arguments that are too deep or too many are refused without a RangeError', async () => {
    const execute = vi.fn(async () => 1);
    const broker = await brokerWith({ add: execute });
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    expect(await broker.call(tool(1, 'add', deep), { signal: live })).toEqual(
      refused('tool.invalid-arguments', /nested over 64/),
    );
    const many = Array.from({ length: 200_001 }, () => 0);
    expect(await broker.call(tool(2, 'add', many), { signal: live })).toEqual(
      refused('tool.too-large', /over 200000 values/),
    );
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    expect(await broker.call(tool(3, 'add', cycle), { signal: live })).toEqual(
      refused('tool.invalid-arguments', /nested over 64/),
    );
    expect(execute).not.toHaveBeenCalled();
  });

  test('E10 200,000 small calls: the budget ends them, and the host keeps no more rows than the budget', async () => {
    const execute = vi.fn(async () => 1);
    const broker = await brokerWith(
      { add: execute },
      { limits: { calls: 50, modelTimeoutMs: 1000, approvalTimeoutMs: 1_000 } },
    );
    for (let id = 1; id <= 50; id += 1) await broker.call(tool(id, 'add'), { signal: live });
    expect(broker.exhausted).toBeUndefined();
    let last;
    for (let id = 51; id <= 200_000; id += 1) last = await broker.call(tool(id, 'add'), { signal: live });
    expect(last).toEqual(refused('tool.limit', /may make 50 calls/));
    expect(broker.exhausted).toBe('The job may make 50 calls.');
    expect(broker.rows).toHaveLength(50);
    expect(execute).toHaveBeenCalledTimes(50);
  });

  test('a request to the model is refused where the job has none', async () => {
    const broker = await brokerWith({});
    const call: BrokerCall = { id: 1, target: 'model', name: 'generate', args: { system: '', messages: [] } };
    expect(await broker.call(call, { signal: live })).toMatchObject(
      refused('tool.not-allowed', /the job has no model/),
    );
  });

  test('totals of a tool stay apart from those of the model and of the host, for any tool id', async () => {
    const broker = await brokerWith({ model: async () => 1, host: async () => 1 });
    for (const [index, target] of (['tool', 'model', 'host'] as const).entries())
      await broker.call({ id: index + 1, target, name: 'model', args: {} }, { signal: live });
    await broker.call(tool(4, 'host'), { signal: live });
    expect(broker.totals).toEqual({
      model: { calls: 1, failed: 0, replayed: 0 },
      host: { calls: 1, failed: 0, replayed: 0 },
      '(model)': { calls: 1, failed: 1, replayed: 0 },
      '(host)': { calls: 1, failed: 1, replayed: 0 },
    });
  });

  test('reports that a result does not fit', async () => {
    const broker = await brokerWith({ odd: { description: 'odd', output: z.number(), execute: async () => 'x' } });
    expect(await broker.call(tool(1, 'odd'), { signal: live })).toEqual(
      refused('tool.invalid-result', /^The result of odd does not fit: /),
    );
  });

  test('E10 refused calls count too, so that a flood of bad ones ends the job', async () => {
    const broker = await brokerWith({}, { limits: { calls: 3, modelTimeoutMs: 1000, approvalTimeoutMs: 1_000 } });
    for (let count = 0; count < 4; count += 1) await broker.call(tool(1, 'x'), { signal: live });
    expect(broker.exhausted).toBe('The job may make 3 calls.');
    expect(broker.rows).toHaveLength(1);
  });

  test('E11 calls after close, and after the job was canceled, are refused', async () => {
    const execute = vi.fn(async () => 1);
    const broker = await brokerWith({ add: execute });
    const canceled = AbortSignal.abort(new Error('canceled'));
    expect(await broker.call(tool(1, 'add'), { signal: canceled })).toEqual(
      refused('tool.job-over', /the job is over/),
    );
    broker.close();
    broker.close();
    expect(await broker.call(tool(2, 'add'), { signal: live })).toEqual(refused('tool.job-over', /the job is over/));
    expect(execute).not.toHaveBeenCalled();
    expect(broker.rows).toEqual([]);
  });

  test('E11 close() ends a call whose tool ignores its signal, and a late value goes nowhere', async () => {
    const gate = deferred<string>();
    let seen: AbortSignal | undefined;
    const broker = await brokerWith({
      wait: (_args, { signal }) => {
        seen = signal;
        return gate.promise;
      },
    });
    const pending = broker.call(tool(1, 'wait'), { signal: live });
    await until(() => seen !== undefined, 'the call');
    broker.close();
    expect(await pending).toEqual(refused('tool.job-over', /the job is over/));
    expect(seen?.aborted).toBe(true);
    gate.resolve('late');
    await new Promise((resolve) => setImmediate(resolve));
    expect(broker.rows[0]).toMatchObject({ ok: false, error: expect.stringContaining('over') as string });
  });

  test('E11 a call that waits for a place when the job ends never runs', async () => {
    const gate = deferred<void>();
    const execute = vi.fn(() => gate.promise);
    const broker = await brokerWith({ wait: execute });
    const calls = Array.from({ length: 20 }, (_, index) => broker.call(tool(index + 1, 'wait'), { signal: live }));
    await until(() => execute.mock.calls.length === 16, 'the calls');
    broker.close();
    gate.resolve(undefined);
    await Promise.all(calls);
    await new Promise((resolve) => setImmediate(resolve));
    expect(execute).toHaveBeenCalledTimes(16);
  });

  test('E13 an error of the host stays on the host: no path, no stack, no variable', async () => {
    const failure = Object.assign(new Error(`ENOENT: no such file or directory, open '/srv/data/secret.json'`), {
      path: '/srv/data/secret.json',
    });
    const onToolFailure = vi.fn();
    const broker = await brokerWith({ read: () => Promise.reject(failure) }, { onToolFailure });
    const reply = await broker.call(tool(1, 'read'), { signal: live });
    expect(reply).toEqual({ ok: false, error: { code: 'tool.failed', message: 'The tool read failed on the host.' } });
    expect(onToolFailure).toHaveBeenCalledExactlyOnceWith('read', failure);
    expect(broker.rows[0]?.error).toBe('The tool read failed on the host.');
  });

  test('E13 the message of a ToolError arrives, less paths, keys and further lines', async () => {
    const text =
      `No row 7 in '/home/jane doe/rows.db' or /var/lib/rows or C:\\data\\rows with key canary-4711, ` +
      `see https://example.org/rows\n    at read (/srv/tool.js:1:1)`;
    const broker = await brokerWith({ read: () => Promise.reject(new ToolError(text)) }, { secrets: ['canary-4711'] });
    const reply = await broker.call(tool(1, 'read'), { signal: live });
    expect(reply).toEqual({
      ok: false,
      error: {
        code: 'tool.failed',
        message: "No row 7 in '[path]' or [path] or [path] with key [redacted], see https://example.org/rows",
      },
    });
  });

  test('E13 a tool that returns a value outside of JSON, or too much JSON, gives an error', async () => {
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    const broker = await brokerWith({
      cycle: async () => cycle,
      large: async () => 'x'.repeat(300_000),
      big: async () => 1n,
    });
    expect(await broker.call(tool(1, 'cycle'), { signal: live })).toEqual(
      refused('tool.invalid-result', /nested over 60/),
    );
    expect(await broker.call(tool(2, 'large'), { signal: live })).toEqual(
      refused('tool.too-large', /over 262144 bytes/),
    );
    expect(await broker.call(tool(3, 'big'), { signal: live })).toEqual(refused('tool.invalid-result', /bigint/));
  });
});

test('names a known tool to the surroundings of its call, and no made-up one', async () => {
  const seen: unknown[] = [];
  const broker = await brokerWith(
    { known: async () => 1 },
    { aroundCall: (called, make) => (seen.push(called.name), make()) },
  );
  await broker.call(tool(1, 'known'), { signal: live });
  await broker.call(tool(2, 'made-up'), { signal: live });
  expect(seen).toEqual(['known', undefined]);
});

test('refuses arguments that are too large before the tool is asked', async () => {
  let asked = 0;
  const broker = await brokerWith({ big: async () => (asked += 1) });
  const reply = await broker.call(tool(1, 'big', { text: 'x'.repeat(TOOL_JSON_BYTES) }), { signal: live });
  expect(reply).toEqual(refused('tool.too-large', /not acceptable/));
  expect(asked).toBe(0);
});

test('lists the effects of calls with their arguments', async () => {
  const write = { description: 'Writes.', effect: 'write' as const, execute: async () => 1 };
  const broker = await brokerWith({ pay: write }, { repeats: true });
  await broker.call(tool(1, 'pay', { euro: 5 }), { signal: live });
  expect(broker.effects()).toEqual(['pay({"euro":5})']);
});

test('refuses a request to the model that is not JSON', async () => {
  let asked = 0;
  const model = { id: 'm', generate: async () => ((asked += 1), { text: '' }) } as unknown as BrokerOptions['model'];
  const broker = await brokerWith({}, { model });
  const call: BrokerCall = { id: 1, target: 'model', name: MODEL_CALL, args: { messages: () => 1 } };
  const reply = await broker.call(call, { signal: live });
  expect(reply).toEqual(refused('tool.invalid-arguments', /the request is not acceptable/));
  expect(asked).toBe(0);
});
