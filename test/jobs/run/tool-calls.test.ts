import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { ApprovalAnswer, ApprovalRequest } from '../../../src/tools/calls/approval.ts';
import type { ToolContext } from '../../../src/tools/define/tool.ts';
import { ToolError } from '../../../src/tools/define/tool-errors.ts';
import type { JobEvent } from '../../../src/contracts/jobs/events.ts';
import type { ExecOptions } from '../../../src/contracts/jobs/job.ts';
import type { JobResult } from '../../../src/contracts/jobs/result.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { MISSING_PYTHON, requireHere } from '../../fixtures/describe-with.ts';
import { ALL_LEVELS, type EachLevel, everyRunner, requireEachLevel } from '../../fixtures/every-level.ts';
import { toolList } from '../../fixtures/tool-list.ts';
import { programAnswer, scriptedModel } from '../../fixtures/scripted-model.ts';

const MIB = 1024 * 1024;
let contexts: unknown[] = [];
let effects: unknown[] = [];
let busyCalls = 0;
let questions: ApprovalRequest[] = [];
let answer: (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalAnswer>;

// oxlint-disable-next-line prefer-promise-reject-errors -- a tool of a caller may do so
const rejectWithNothing = (): Promise<never> => Promise.reject(undefined);

const tools = toolList([
  [
    'echo.back',
    {
      description: 'Returns its input.',
      effect: 'read',
      execute: async (input: unknown, { context }: ToolContext) => (contexts.push(context), input),
    },
  ],
  ['echo.then', { description: 'A name that every promise is asked for.', execute: async () => 'then' }],
  ['crm.import', { description: 'A name that is a word of Python.', execute: async () => 'imported' }],
  [
    'shop.order',
    { description: 'Has an effect.', execute: async (input: unknown) => ({ order: effects.push(input) }) },
  ],
  [
    'shop.busy',
    {
      description: 'Fails first, and then has an effect.',
      execute: async (input: unknown) => {
        if ((busyCalls += 1) === 1) throw new ToolError('busy');
        return effects.push(input);
      },
    },
  ],
  ['shop.slow', { description: 'Never ends.', timeoutMs: 300, execute: () => new Promise<never>(() => undefined) }],
  [
    'echo.late',
    {
      description: 'Returns its input after a while.',
      effect: 'read',
      execute: async (input) => await new Promise((resolve) => setTimeout(() => resolve(input), 1_000)),
    },
  ],
  [
    'echo.bytes',
    { description: 'Gives many bytes.', effect: 'read', execute: async (count) => new Uint8Array(count as number) },
  ],
  ['shop.once', { description: 'Once a job.', maxCalls: 1, execute: async () => 'once' }],
  [
    'shop.bill',
    { description: 'Has to be allowed.', approval: 'always', execute: async (input) => effects.push(input) },
  ],
  ['odd.getter', { description: 'A hostile getter.', execute: async () => hostile() }],
  [
    'odd.deep',
    { description: 'Nested deep.', execute: async () => JSON.parse('['.repeat(61) + ']'.repeat(61)) as unknown },
  ],
  ['odd.prototypes', { description: 'A forbidden key.', execute: async () => ({ constructor: { prototype: 1 } }) }],
  ['odd.map', { description: 'No JSON.', execute: async () => ({ of: new Map([[1, 2]]) }) }],
  ['odd.nan', { description: 'No number.', execute: async () => [Number.NaN] }],
  ['odd.cycle', { description: 'A cycle.', execute: async () => cycle() }],
  ['odd.gigabyte', { description: 'Too much.', execute: async () => 'x'.repeat(2 ** 29 - 24) }],
  ['odd.holes', { description: 'A list of holes.', execute: async () => Object.assign([], { length: 2 ** 32 - 1 }) }],
  ['odd.bytes', { description: 'Too many bytes.', maxResultBytes: 1_000, execute: async () => new Uint8Array(1_001) }],
  ['odd.throw', { description: 'Throws nothing.', execute: rejectWithNothing }],
  [
    'odd.sync',
    {
      description: 'Throws at once.',
      execute: () => {
        throw new Error('at once');
      },
    },
  ],
]);

function hostile(): object {
  return {
    get value(): never {
      throw new Error('secret of the host');
    },
  };
}

function cycle(): object {
  const ring: { self?: object } = {};
  ring.self = ring;
  return ring;
}

const runners = await everyRunner();
const orchestrator = createOrchestrator({
  runners,
  tools,
  approve: (request, { signal }) => (questions.push(request), answer(request, signal)),
});
afterAll(() => orchestrator.close());

const NODE = `import { tools, ToolCallError } from 'skillcell';
const attempt = (call) => call().catch((error) => (error instanceof ToolCallError ? error.code : String(error)));
`;

const PYTHON = `import asyncio, copy, os, threading
from skillcell import tools, set_value, ToolCallError
`;

interface Jobs {
  exec(code: string, more?: Partial<ExecOptions>): Promise<JobResult>;
  python(code: string): Promise<JobResult>;
}

/** Jobs at a level, for the tests of a group. */
function jobsAt(isolation: EachLevel): Jobs {
  beforeEach((context) => {
    requireEachLevel(context, isolation);
    [contexts, effects, questions, busyCalls] = [[], [], [], 0];
    answer = async () => ({ allow: true });
  });
  const exec: Jobs['exec'] = (code, more = {}) =>
    orchestrator.exec({ isolation, tools: ['*'], code: `${more.language === undefined ? NODE : ''}${code}`, ...more });
  return { exec, python: (code) => exec(code, { language: 'python' }) };
}

/** The parts of one program, since each job takes a sandbox: the value of a part is the value of its function. */
const JAVASCRIPT_PARTS = {
  names: `
      const waited = await tools.echo;
      const odd = [tools.then, tools.__proto__, tools.constructor, tools.toJSON, tools[Symbol.iterator], tools.echo.then, tools.echo.prototype];
      return [typeof waited, odd.map((each) => typeof each), await tools.call('echo.then'), JSON.stringify({ tools }),
        await attempt(() => tools.call('__proto__')), await attempt(() => tools.call('constructor.prototype')), await tools.crm.import()];`,
  bytes: `
      const large = new Uint8Array(5 * ${MIB}).map((_, index) => index * 7);
      const given = { a: [Buffer.from([0, 255]), { b: large }], none: new Uint8Array(0), text: 'null' };
      const back = await tools.echo.back(given);
      const same = back.a[1].b.length === large.length && Buffer.compare(back.a[1].b, large) === 0;
      return [back.a[0] instanceof Uint8Array, [...back.a[0]], same, back.none.length, back.text];`,
  tooLarge: `
return [
      await attempt(() => tools.echo.back(new Uint8Array(8 * ${MIB} + 1))), await attempt(() => tools.echo.back('x'.repeat(300_000))),
      await attempt(() => tools.echo.back([1n])), await attempt(() => { const ring = {}; ring.ring = ring; return tools.echo.back(ring); }),
      (await tools.echo.back([new Uint8Array(4 * ${MIB}), new Uint8Array(4 * ${MIB})])).length, (await tools.echo.back(new Uint8Array(8 * ${MIB}))).length];`,
  values: `
      class Row { id = 1; left = undefined; }
      const rows = [];
      for (const given of [{ a: [NaN] }, { rate: -Infinity }, { format: () => 1 }, Symbol.iterator, { seen: new Map([[1, 2]]) }, [new Set()], Promise.resolve(1), { a: { b: /x/ } },
        Object.assign(new Map(), { size2: 1 }), { why: Object.assign(new Error('no'), { code: 'E1' }) }, [new String('x')], new Float64Array([1.5]), { small: new Int8Array([-1]) }])
        rows.push(await tools.echo.back(given).catch(({ code, message }) => [code, message]));
      return [rows, await tools.echo.back([new Row(), new Date(0), Object.create(null), {}, []]), await tools.echo.back([new DataView(Uint8Array.of(7, 8).buffer, 1), new Uint8ClampedArray([9])]).then((views) => views.map((view) => [...view]))];`,
  results: `
      return [await attempt(() => tools.odd.map()), await attempt(() => tools.odd.nan())];`,
  faults: `
      const names = ['odd.getter', 'odd.cycle', 'odd.gigabyte', 'odd.holes', 'odd.bytes', 'odd.throw', 'odd.sync', 'shop.slow'];
      return [...await Promise.all(names.map((name) => attempt(() => tools.call(name)))), await tools.echo.back('served')];`,
  nested: `
      const nested = (levels) => { let value = 1; for (let n = 0; n < levels; n += 1) value = [value]; return value; };
      const depth = (value) => { let levels = 0; for (; Array.isArray(value); value = value[0]) levels += 1; return levels; };
      return [depth(await tools.echo.back(nested(60))), await attempt(() => tools.echo.back(nested(61))), await attempt(() => tools.odd.deep({})), await tools.echo.back(1)];`,
  prototypes: `
      return [await attempt(() => tools.echo.back(JSON.parse('{"__proto__":1}'))),
      await attempt(() => tools.echo.back({ constructor: { prototype: 1 } })), await attempt(() => tools.odd.prototypes({})),
      await tools.echo.back({ constructor: 1, prototype: {} })];`,
  maxCalls: `
      return [await attempt(() => tools.shop.once()), await attempt(() => tools.shop.once()), await tools.echo.back(1)];`,
};

/** The same for Python, where a part sets its value with `return`. */
const PYTHON_PARTS = {
  keywords: `
rows = [tools.call("crm.import"), getattr(tools.crm, "import")(), hasattr(tools, "__len__"), repr(tools.crm.find)]
try:
    copy.deepcopy(tools.echo)
except Exception as error:
    rows.append(type(error).__name__)
pid = os.fork()
if pid == 0:
    try:
        tools.echo.back(1)
    except ToolCallError as error:
        os._exit(7 if error.code == "tool.job-over" else 8)
    os._exit(9)
rows.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
rows.append(tools.echo.back("still"))
return rows`,
  tooLarge: `
def attempt(value):
    try:
        return len(tools.echo.back(value))
    except ToolCallError as error:
        return error.code
ring = []
ring.append(ring)
return [attempt(bytes(8 * ${MIB} + 1)), attempt("x" * 300_000), attempt([1j]), attempt(ring), attempt([float("nan")]), attempt(bytes(8 * ${MIB}))]`,
  values: `
def attempt(value):
    try:
        return tools.echo.back(value)
    except ToolCallError as error:
        return [error.code, str(error)]
try:
    set_value(2**53)
except ValueError as error:
    print(error)
try:
    set_value([{"1": "x", 1: "y"}])
except ValueError as error:
    print(error)
return [attempt({"id": 2**53}), attempt([-(2**53)]), attempt([2**53 - 1, True]), attempt({1, 2}), attempt({b"a": 1}), attempt([{"1": "x", 1: "y"}]), attempt({1: b"x", None: 2})["1"] == b"x", attempt(None), tools.call("echo.back", None), tools.call("echo.back")]`,
  nested: `
def nested(levels):
    value = 1
    for _ in range(levels):
        value = [value]
    return value
rows = [tools.echo.back(nested(60)) == nested(60)]
for levels in (61, 64, 500):
    try:
        tools.echo.back(nested(levels))
    except ToolCallError as error:
        rows.append(error.code)
return rows`,
  prototypes: `
rows = []
for value in ({"__proto__": 1}, {"a": [{"constructor": {"prototype": 1}}]}):
    try:
        tools.echo.back(value)
    except ToolCallError as error:
        rows.append(error.code)
rows.append(tools.echo.back({"constructor": None}))
return rows`,
  endedLoop: `
async def give_up():
    try:
        await asyncio.wait_for(tools.echo.late.aio(1), 0.05)
    except asyncio.TimeoutError:
        return 'gave up'
async def again():
    return await tools.echo.late.aio(2)
seen = []
thread = threading.Thread(target=lambda: seen.append([tools.echo.late(n) for n in (3, 4)]))
thread.start()
first = asyncio.run(give_up())
thread.join()
return [first, asyncio.run(again()), *seen]`,
  threads: `
rows = {}
def work(n):
    rows[n] = [tools.echo.back({"n": n, "i": i})["i"] for i in range(20)]
threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
for thread in threads: thread.start()
async def many():
    return await asyncio.gather(*(tools.echo.back.aio(n=n, data=bytes([n])) for n in range(50)))
tasks = asyncio.run(many())
for thread in threads: thread.join()
return [all(rows[n] == list(range(20)) for n in range(8)), [row["n"] for row in tasks] == list(range(50)), tasks[7]["data"] == b"\\x07"]`,
};

describe.each(ALL_LEVELS)('calls of tools at level %s', (isolation) => {
  const { exec, python } = jobsAt(isolation);
  let javascriptJob: Promise<JobResult> | undefined;
  let pythonJob: Promise<JobResult> | undefined;
  const inJavaScript = async (part: keyof typeof JAVASCRIPT_PARTS): Promise<{ value: unknown; result: JobResult }> => {
    const bodies = Object.entries(JAVASCRIPT_PARTS).map(
      ([name, body]) => `parts.${name} = await (async () => {${body}})();\n`,
    );
    const result = await (javascriptJob ??= exec(`const parts = {};\n${bodies.join('')}export default parts;`));
    expect([result.outcome, result.stderr.text]).toEqual(['succeeded', '']);
    return { value: (result.value as Record<string, unknown>)[part], result };
  };
  const inPython = async (part: keyof typeof PYTHON_PARTS): Promise<{ value: unknown; result: JobResult }> => {
    const bodies = Object.entries(PYTHON_PARTS).map(
      ([name, body]) => `def ${name}():${body.trimEnd().replaceAll('\n', '\n    ')}\nparts["${name}"] = ${name}()\n`,
    );
    const result = await (pythonJob ??= python(`${PYTHON}parts = {}\n${bodies.join('')}set_value(parts)\n`));
    expect([result.outcome, result.stderr.text]).toEqual(['succeeded', '']);
    return { value: (result.value as Record<string, unknown>)[part], result };
  };

  it('need a tool that the job names or that matches a pattern, and no other tool runs', async () => {
    const code = 'export default [await attempt(() => tools.shop.order({})), await attempt(() => tools.echo.back(1))];';
    expect((await exec(code, { tools: [] })).value).toEqual(['tool.not-allowed', 'tool.not-allowed']);
    const { value, callTotals } = await exec(code, { tools: ['echo.*'] });
    expect(value).toEqual(['tool.not-allowed', 1]);
    expect(effects).toEqual([]);
    expect(callTotals).toEqual({
      '(not allowed)': { calls: 1, failed: 1, replayed: 0 },
      'echo.back': { calls: 1, failed: 0, replayed: 0 },
    });
  });

  it('a pattern that names no tool is refused before anything starts', async () => {
    await expect(exec('', { tools: ['ecko.back'] })).rejects.toMatchObject({
      code: 'job.invalid',
      message: expect.stringContaining('got "ecko.back"') as string,
    });
  });

  it('the context of a job reaches only its tools', async () => {
    const given = { user: 'ada', secret: 'context-4711' };
    const result = await exec('export default await tools.echo.back(1);', { context: given });
    expect(contexts).toEqual([given]);
    expect(contexts[0]).toBe(given);
    expect(JSON.stringify(result)).not.toContain('context-4711');
  });

  it('names of the language do not confuse the proxy', async () => {
    const { value } = await inJavaScript('names');
    expect(value).toEqual([
      'function',
      Array.from({ length: 7 }, () => 'undefined'),
      'then',
      '{"tools":{}}',
      'tool.not-allowed',
      'tool.not-allowed',
      'imported',
    ]);
  });

  it('bytes are transferred both ways unchanged, anywhere in a value', async () => {
    const { value } = await inJavaScript('bytes');
    expect(value).toEqual([true, [0, 255], true, 0, 'null']);
  });

  it('more than 8 MiB of bytes, and more JSON than 256 KiB, are too large, in both languages', async (context) => {
    expect((await inJavaScript('tooLarge')).value).toEqual([
      'tool.too-large',
      'tool.too-large',
      'tool.invalid-arguments',
      'tool.invalid-arguments',
      2,
      8 * MIB,
    ]);
    requireHere(context, MISSING_PYTHON);
    const { value } = await inPython('tooLarge');
    expect(value).toEqual([
      'tool.too-large',
      'tool.too-large',
      'tool.invalid-arguments',
      'tool.invalid-arguments',
      'tool.invalid-arguments',
      8 * MIB,
    ]);
  });

  it('values that JSON would drop or change are refused with their place, never sent as other values', async (context) => {
    const { value } = await inJavaScript('values');
    const got = (fault: string): string[] => [
      'tool.invalid-arguments',
      `Cannot make the call: the arguments are not acceptable: ${fault}.`,
    ];
    const refused = [
      'NaN is no JSON value, at a.0',
      '-Infinity is no JSON value, at rate',
      'a function is no JSON value, at format',
      'a symbol is no JSON value',
      'an object that is a Map is no JSON value, at seen',
      'an object that is a Set is no JSON value, at 0',
      'an object that is a Promise is no JSON value',
      'an object that is a RegExp is no JSON value, at a.b',
      'an object that is a Map is no JSON value',
      'an object that is a Error is no JSON value, at why',
      'an object that is a String is no JSON value, at 0',
      'an object that is a Float64Array is no JSON value',
      'an object that is a Int8Array is no JSON value, at small',
    ];
    expect(value).toEqual([refused.map(got), [{ id: 1 }, '1970-01-01T00:00:00.000Z', {}, {}, []], [[8], [9]]]);
    const { value: codes, result } = await inJavaScript('results');
    expect(codes).toEqual(['tool.invalid-result', 'tool.invalid-result']);
    expect(result.calls.find(({ name }) => name === 'odd.map')?.error).toContain(
      'an object that is a Map is no JSON value, at of',
    );

    requireHere(context, MISSING_PYTHON);
    const { value: exact, result: printed } = await inPython('values');
    const beyond = 'JSON has no integer beyond 9007199254740991; give it as text.';
    const same = 'two keys of a dict are the same in JSON, "1"';
    expect(printed.stdout.text).toBe(`Cannot set the value: ${beyond}\n${same}\n`);
    const tooGreat = ['tool.invalid-arguments', `Cannot make the call: ${beyond}`];
    expect(exact).toEqual([
      tooGreat,
      tooGreat,
      [2 ** 53 - 1, true],
      ['tool.invalid-arguments', expect.any(String)],
      ['tool.invalid-arguments', expect.stringContaining('Cannot make the call: keys must be')],
      ['tool.invalid-arguments', `Cannot make the call: ${same}.`],
      true,
      null,
      null,
      {},
    ]);
  });

  it('an uncaught failed call is reported with its line and the name of the tool', async (context) => {
    const node = await exec('\nconst find = async () => {\n  await tools.crm.find({});\n};\nawait find();');
    const message = 'The job does not have the tool "crm.find".';
    expect(node.error).toMatchObject({ name: 'ToolCallError', message, line: 5 });
    expect(node.error?.stack).toContain('find');
    expect(node.stderr.text).toContain(message);
    requireHere(context, MISSING_PYTHON);
    const { error } = await python('from skillcell import tools\n\ntools.crm.find()');
    expect(error).toMatchObject({ name: 'ToolCallError', message, line: 3 });
  });

  it('an answer to an ended Python loop does not block later calls', async (context) => {
    requireHere(context, MISSING_PYTHON);
    expect((await inPython('endedLoop')).value).toEqual(['gave up', 2, [3, 4]]);
  });

  it('concurrent calls of Python threads and tasks get their own answers', async (context) => {
    requireHere(context, MISSING_PYTHON);
    const { value } = await inPython('threads');
    expect(value).toEqual([true, true, true]);
  });

  it('new Python processes of a program can import skillcell, and have no tools', async (context) => {
    requireHere(context, MISSING_PYTHON);
    const { value, stderr } = await python(`
import os
from multiprocessing import get_context
from skillcell import tools, set_value, ToolCallError
def child():
    try:
        tools.echo.back(1)
    except ToolCallError as error:
        os._exit(7 if error.code == 'tool.job-over' else 8)
if __name__ == '__main__':
    process = get_context('spawn').Process(target=child)
    process.start()
    process.join()
    set_value(process.exitcode)
`);
    expect([value, stderr.text]).toEqual([7, '']);
  });

  it('Python keywords, underscores and forks do not confuse the proxy', async (context) => {
    requireHere(context, MISSING_PYTHON);
    const { value } = await inPython('keywords');
    expect(value).toEqual(['imported', 'imported', false, '<tool crm.find>', 7, 'still']);
  });

  it('a tool that hangs, throws, or gives an invalid result is one clean error, and the next call is served', async () => {
    const { value, result } = await inJavaScript('faults');
    expect(value).toEqual([
      'tool.invalid-result',
      'tool.invalid-result',
      'tool.too-large',
      'tool.too-large',
      'tool.too-large',
      'tool.failed',
      'tool.failed',
      'tool.timeout',
      'served',
    ]);
    expect(JSON.stringify(result)).not.toContain('secret of the host');
  });

  it('values nested 60 levels are transferred both ways, deeper values are refused, and the run goes on', async (context) => {
    const { value } = await inJavaScript('nested');
    expect(value).toEqual([60, 'tool.invalid-arguments', 'tool.invalid-result', 1]);
    requireHere(context, MISSING_PYTHON);
    expect((await inPython('nested')).value).toEqual([
      true,
      'tool.invalid-arguments',
      'tool.invalid-arguments',
      'tool.invalid-arguments',
    ]);
  });

  it('a key that reaches a prototype is refused at the call, on either side, and the run goes on', async (context) => {
    const { value } = await inJavaScript('prototypes');
    const refused = ['tool.invalid-arguments', 'tool.invalid-arguments'];
    expect(value).toEqual([...refused, 'tool.invalid-result', { constructor: 1, prototype: {} }]);
    requireHere(context, MISSING_PYTHON);
    expect((await inPython('prototypes')).value).toEqual([...refused, { constructor: null }]);
  });

  it('maxCalls limits one tool, and other tools still work', async () => {
    const { value } = await inJavaScript('maxCalls');
    expect(value).toEqual(['once', 'tool.limit', 1]);
  });

  it('a call that is under way when the job ends is counted as failed', async () => {
    const { calls, callTotals } = await exec(
      'tools.shop.slow({}); await tools.echo.back(1); process.kill(process.pid, "SIGKILL");',
    );
    expect(calls.map(({ name, ok }) => [name, ok])).toEqual([
      ['shop.slow', false],
      ['echo.back', true],
    ]);
    expect(callTotals).toEqual({
      'shop.slow': { calls: 1, failed: 1, replayed: 0 },
      'echo.back': { calls: 1, failed: 0, replayed: 0 },
    });
  });

  it('an approval may take longer than run and job, and other calls go on meanwhile', async () => {
    let allow: () => void = () => undefined;
    answer = () => new Promise((resolve) => (allow = () => resolve({ allow: true })));
    const events: JobEvent[] = [];
    const stream = orchestrator.stream({
      kind: 'exec',
      isolation,
      tools: ['*'],
      limits: { runTimeoutMs: 4_000, jobTimeoutMs: 5_000 },
      code: `${NODE} const bill = tools.shop.bill({ sum: 5 });
        const beside = await tools.echo.back('beside');
        export default [await bill, beside];`,
    });
    for await (const event of stream) {
      events.push(event);
      if (event.type === 'call' && event.call.name === 'echo.back') setTimeout(() => allow(), 5_500);
    }
    const result = await stream.result;
    expect([result.outcome, result.value]).toEqual(['succeeded', [1, 'beside']]);
    expect(questions).toMatchObject([{ tool: 'shop.bill', input: { sum: 5 }, attempt: 1 }]);
    const phases = events.flatMap((event) => (event.type === 'approval' ? [event.phase] : []));
    expect(phases).toEqual(['asked', 'allowed']);
  });

  it('a change of the approval request does not change the call', async () => {
    answer = async ({ input }) => {
      Object.assign(input as object, { sum: 7 });
      return { allow: true };
    };
    const { value, calls } = await exec('export default await tools.shop.bill({ sum: 5 });');
    expect([value, calls[0]?.ok]).toEqual([1, true]);
    expect(effects).toEqual([{ sum: 5 }]);
  });

  it('a denial, a late answer and an invalid answer are tool.denied, and the tool is not called', async () => {
    const answers: (() => Promise<unknown>)[] = [
      async () => ({ allow: false, reason: 'too much at /srv/limits.json' }),
      async () => ({ allow: 'yes' }),
      async () => undefined,
      () => Promise.reject(new Error('secret of the host')),
      () => new Promise(() => undefined),
      async () => ({ allow: true }),
    ];
    answer = () => (answers.shift() as () => Promise<ApprovalAnswer>)();
    const result = await exec(
      `const rows = []; for (let n = 0; n < 6; n += 1) await tools.shop.bill(n).catch((error) => rows.push([error.code, error.message])); export default rows;`,
      { limits: { approvalTimeoutMs: 500 } },
    );
    const rows = result.value as [string, string][];
    // The last call is denied without a request: the time for answers is used up.
    expect(rows.map(([code]) => code)).toEqual(Array.from({ length: 6 }, () => 'tool.denied'));
    expect(rows[0]?.[1]).toContain('too much at [path]');
    expect(rows[4]?.[1]).toContain('there was no answer in time');
    expect(questions).toHaveLength(5);
    expect(effects).toEqual([]);
    expect(JSON.stringify(result)).not.toContain('secret of the host');
  });

  it('a write that failed and was tried again has one effect in all attempts', async () => {
    const program = (ending: string): string => `import { tools } from 'skillcell';
let order;
try { order = await tools.shop.busy({ sum: 1 }); } catch { order = await tools.shop.busy({ sum: 1 }); }
${ending}`;
    const codes = [program('throw new Error("again");'), program('export default order;')];
    const model = scriptedModel(codes.map((code) => programAnswer('javascript', code)));
    await using own = createOrchestrator({ runners: await everyRunner(), tools, model });
    const result = await own.codegen({ isolation, task: 'Order.', tools: ['*'] });
    expect([result.outcome, result.value, effects]).toEqual(['succeeded', 1, [{ sum: 1 }]]);
    expect(result.callTotals['shop.busy']).toEqual({ calls: 3, failed: 1, replayed: 1 });
  });

  it('three attempts with the same write have one effect; other input has its own effect', async () => {
    const programs = [1, 2, 3].map(
      (attempt) => `import { tools } from 'skillcell';
          const rows = [await tools.shop.order({ b: 1, a: new Uint8Array([1]) }), await tools.shop.order({ a: new Uint8Array([1]), b: 1 }), await tools.shop.order(${attempt})];
          await tools.echo.back(0);
          if (${attempt} < 3) throw new Error('again');
          export default rows;`,
    );
    const model = scriptedModel(programs.map((code) => programAnswer('javascript', code)));
    await using own = createOrchestrator({ runners: await everyRunner(), tools, model });
    const result = await own.codegen({ isolation, task: 'Order.', tools: ['*'] });
    expect(result.outcome).toBe('succeeded');
    // Two equal orders of the first attempt, and one order of each attempt.
    expect(effects).toHaveLength(5);
    expect(result.value).toEqual([{ order: 1 }, { order: 2 }, { order: 5 }]);
    expect(result.callTotals['shop.order']).toEqual({ calls: 9, failed: 0, replayed: 4 });
    expect(result.callTotals['echo.back']).toEqual({ calls: 3, failed: 0, replayed: 0 });
    expect(result.calls.filter(({ replayed }) => replayed === true)).toHaveLength(4);
    const messages = model.asked.map((request) => request.messages.at(-1)?.content);
    // The model is told the writes that are safe to repeat; reads are not listed.
    expect(messages[1]).toContain('shop.order({"b":1,"a":null})\nshop.order({"a":null,"b":1})\nshop.order(1)\n');
    expect(messages[2]).toContain('shop.order(2)\n');
    expect(messages[2]).not.toContain('echo.back(');
  });

  it('an open approval of a failed program is withdrawn before the model is asked, and its tool is not called', async () => {
    const programs = [
      "import { tools } from 'skillcell';\ntools.shop.bill(1).catch(() => undefined);\nawait tools.echo.back(0); throw new Error('again');",
      "import { tools } from 'skillcell';\nexport default await tools.shop.bill(2);",
    ];
    const model = scriptedModel(programs.map((code) => programAnswer('javascript', code)));
    let askedUntilThen = 0;
    const approve = (
      { attempt }: { attempt: number },
      { signal }: { signal: AbortSignal },
    ): Promise<ApprovalAnswer> | ApprovalAnswer => {
      if (attempt === 2) return { allow: true };
      return new Promise((resolve) =>
        signal.addEventListener('abort', () => {
          askedUntilThen = model.asked.length;
          resolve({ allow: true });
        }),
      );
    };
    await using own = createOrchestrator({
      runners: await everyRunner(),
      tools,
      model,
      approve: async (request, around) => await approve(request, around),
    });
    const result = await own.codegen({ isolation, task: 'Bill.', tools: ['*'] });
    expect([result.outcome, askedUntilThen, effects]).toEqual(['succeeded', 1, [2]]);
    expect(result.calls.find(({ name }) => name === 'shop.bill')).toMatchObject({ ok: false, code: 'tool.job-over' });
    expect(model.asked[1]?.messages.at(-1)?.content).not.toContain('shop.bill');
  });

  it('an interrupted write is not repeated by a later attempt', async () => {
    const programs = [
      "tools.shop.slow({ n: 1 }).catch(() => undefined); await tools.echo.back(0); throw new Error('again');",
      '',
    ].map(
      (first) => `import { tools } from 'skillcell';
          ${first}
          export default [await tools.shop.slow({ n: 1 }).catch((error) => error.code), await tools.shop.slow({ n: 2 }).catch((error) => error.code)];`,
    );
    const model = scriptedModel(programs.map((code) => programAnswer('javascript', code)));
    await using own = createOrchestrator({ runners: await everyRunner(), tools, model });
    const result = await own.codegen({ isolation, task: 'Order.', tools: ['*'] });
    expect(result.value).toEqual(['tool.effect-unknown', 'tool.timeout']);
  });
});

describe.each(ALL_LEVELS)('many calls of tools at level %s', (isolation) => {
  const { exec, python } = jobsAt(isolation);

  it('32 concurrent calls with a mebibyte each come back complete', async () => {
    const { value, outcome } = await exec(`
      const parts = Array.from({ length: 32 }, (_, n) => new Uint8Array(${MIB}).fill(n));
      const back = await Promise.all(parts.map((part) => tools.echo.back({ part })));
      export default back.every(({ part }, n) => part.length === ${MIB} && part.every((byte) => byte === n));`);
    expect([outcome, value]).toEqual(['succeeded', true]);
  });

  it('a Python signal handler that raises leaves a call without breaking the link', async (context) => {
    requireHere(context, MISSING_PYTHON);
    const { value, stderr } = await python(`
import asyncio, signal
from skillcell import tools, set_value
class Alarm(Exception): pass
def ring(*_): raise Alarm()
signal.signal(signal.SIGALRM, ring)
left = 0
for count in range(0, 24, 1):
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.002 + count * 0.002)
            if count % 2 == 0:
                tools.echo.bytes(4_000_000)
            else:
                tools.echo.back(bytes(4_000_000))
        finally:
            # It may ring until here.
            signal.setitimer(signal.ITIMER_REAL, 0)
    except Alarm:
        left += 1
async def after():
    return await tools.echo.back.aio([1])
set_value([left > 0, len(tools.echo.bytes(9)), asyncio.run(after())])
`);
    expect([value, stderr.text]).toEqual([[true, 9, [1]], '']);
  });

  it('keeps a thousand rows and counts all calls', async () => {
    const result = await exec('for (let n = 0; n < 1_200; n += 1) await tools.echo.back(n);', {
      limits: { calls: 2_000 },
    });
    expect(result.calls).toHaveLength(1_000);
    expect(result.callTotals).toEqual({ 'echo.back': { calls: 1_200, failed: 0, replayed: 0 } });
  });

  it('many concurrent calls with bytes both ways all end, with the arguments as they were at the call', async () => {
    const { outcome, value } = await exec(
      `const MIB = ${MIB};
const bytes = new Uint8Array(8 * MIB);
const large = Array.from({ length: 12 }, (_, index) => {
  bytes[0] = index;
  return tools.echo.back(bytes);
});
const firsts = (await Promise.all(large)).map((answer) => answer.length === 8 * MIB && answer[0]);
const small = await Promise.all(Array.from({ length: 80 }, () => tools.echo.back([bytes.subarray(0, MIB), 'x'.repeat(100_000)])));
export default [firsts, small.filter(([part, text]) => part.length === MIB && text.length === 100_000).length];`,
      { limits: { memoryMib: 1_024 } },
    );
    expect([outcome, value]).toEqual(['succeeded', [Array.from({ length: 12 }, (_, index) => index), 80]]);
  });

  it('2,000 concurrent calls with short arguments and long answers all end', async () => {
    const { outcome, value } = await exec(
      `const answers = await Promise.all(Array.from({ length: 2_000 }, (_, n) => tools.echo.back(n % 20 === 0 ? 'x'.repeat(250_000) : n)));
export default answers.filter((answer, n) => (n % 20 === 0 ? answer.length === 250_000 : answer === n)).length;`,
      { limits: { calls: 2_000, memoryMib: 1_024 } },
    );
    expect([outcome, value]).toEqual(['succeeded', 2_000]);
  });
});
