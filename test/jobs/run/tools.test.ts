import { pino } from 'pino';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { ToolContext } from '../../../src/tools/define/tool.ts';
import { ToolError } from '../../../src/tools/define/tool-errors.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { deferred } from '../../fixtures/deferred.ts';
import { SHARED_LEVELS, requireLevel } from '../../fixtures/levels.ts';
import { toolList } from '../../fixtures/tool-list.ts';
import { until } from '../../fixtures/until.ts';
import { MISSING_PYTHON, requireHere } from '../../fixtures/describe-with.ts';

const HOST_SECRET = 'secret-in-an-error-of-the-host';
let contexts: ToolContext[] = [];
let log = '';
const tools = toolList([
  [
    'add',
    {
      description: 'Adds two numbers.',
      input: z.strictObject({ a: z.number(), b: z.number() }),
      async execute(args, context) {
        contexts.push(context);
        const { a, b } = args as { a: number; b: number };
        return { sum: a + b };
      },
    },
  ],
  ['refuse', { description: 'Refuses.', execute: () => Promise.reject(new ToolError('the table is locked')) }],
  ['break', { description: 'Breaks.', execute: () => Promise.reject(new Error(HOST_SECRET)) }],
  ['large', { description: 'Too much.', execute: async () => 'x'.repeat(300_000) }],
  [
    'hang',
    {
      description: 'Hangs.',
      async execute(_args, context) {
        contexts.push(context);
        await new Promise(() => undefined);
      },
    },
  ],
]);
const orchestrator = createOrchestrator({
  tools,
  logger: pino({ level: 'trace' }, { write: (line) => void (log += line) }),
});
afterAll(() => orchestrator.close());

const NODE =
  "import { callTool } from 'skillcell'; const attempt = (name, args) => callTool(name, args).catch((error) => ({ name: error.name, code: error.code, message: error.message }));";

describe.each(SHARED_LEVELS)('tools at level %s', (isolation) => {
  beforeEach((context) => {
    requireLevel(context, isolation);
    contexts = [];
    log = '';
  });

  it('are called with checked arguments and the job\u2019s own id, and each call is a row', async () => {
    const result = await orchestrator.exec({
      isolation,
      tools: ['*'],
      jobId: `tools-${isolation}`,
      code: `${NODE} export default [await attempt('add', { a: 1, b: 2 }), await attempt('add', { a: 1, b: 'x' }), await attempt('none', {})];`,
    });
    expect(result.outcome).toBe('succeeded');
    const [sum, wrong, unknown] = result.value as [unknown, { code: string; message: string }, { code: string }];
    expect(sum).toEqual({ sum: 3 });
    expect(wrong.message).toMatch(/arguments/);
    expect([wrong.code, unknown.code]).toEqual(['tool.invalid-arguments', 'tool.not-allowed']);
    expect(contexts).toHaveLength(1);
    expect(contexts[0]?.jobId).toBe(`tools-${isolation}`);
    expect(result.calls.map(({ id, target, name, ok }) => ({ id, target, name, ok }))).toEqual([
      { id: 1, target: 'tool', name: 'add', ok: true },
      { id: 2, target: 'tool', name: 'add', ok: false },
      { id: 3, target: 'tool', name: 'none', ok: false },
    ]);
    expect(contexts[0]?.signal.aborted).toBe(true);
  });

  it('E13 a ToolError reaches the program with its message, any other error only as a failure', async () => {
    const result = await orchestrator.exec({
      isolation,
      tools: ['*'],
      code: `${NODE} export default [await attempt('refuse'), await attempt('break'), await attempt('large')];`,
    });
    const [refused, broken, large] = result.value as { name: string; message: string }[];
    expect(refused).toEqual({ name: 'ToolCallError', code: 'tool.failed', message: 'the table is locked' });
    expect(broken?.message).toMatch(/failed/);
    expect(large?.message).toMatch(/bytes|large/);
    expect(JSON.stringify(result)).not.toContain(HOST_SECRET);
    expect(log).toContain(HOST_SECRET);
  });

  it('E13 an uncaught error of a tool ends the program as its own error', async () => {
    const result = await orchestrator.exec({
      isolation,
      tools: ['*'],
      code: "import { callTool } from 'skillcell';\nawait callTool('refuse');",
    });
    expect(result).toMatchObject({
      outcome: 'failed',
      error: { name: 'ToolCallError', message: 'the table is locked' },
    });
  });

  it('run concurrently and answer each caller with its own result', async () => {
    const { value } = await orchestrator.exec({
      isolation,
      tools: ['*'],
      code: `${NODE} export default (await Promise.all(Array.from({ length: 100 }, (_, a) => attempt('add', { a, b: 1 })))).map(({ sum }) => sum);`,
    });
    expect(value).toEqual(Array.from({ length: 100 }, (_, a) => a + 1));
  });

  it('are called from Python, with returned values and raised errors', async (context) => {
    requireHere(context, MISSING_PYTHON);
    const result = await orchestrator.exec({
      isolation,
      tools: ['*'],
      language: 'python',
      code: `import skillcell
rows = [skillcell.call_tool("add", {"a": 1}, b=4)]
try:
    skillcell.call_tool("refuse")
except RuntimeError as error:
    rows.append(str(error))
skillcell.set_value(rows)`,
    });
    expect(result.value).toEqual([{ sum: 5 }, 'the table is locked']);
  });

  it('E10 more calls than allowed end the job as limit / calls', async () => {
    const result = await orchestrator.exec({
      isolation,
      tools: ['*'],
      limits: { calls: 5 },
      code: `${NODE} for (;;) await attempt('add', { a: 1, b: 1 });`,
    });
    expect(result).toMatchObject({ outcome: 'limit', limit: 'calls' });
    expect(result.calls).toHaveLength(5);
    expect(contexts).toHaveLength(5);
  });

  it('E11 a running tool is told when the job ends', async () => {
    const running = orchestrator.exec({
      isolation,
      tools: ['*'],
      jobId: `hang-${isolation}`,
      code: `${NODE} await attempt('hang');`,
    });
    await until(() => contexts.length === 1, 'the call');
    expect(contexts[0]?.signal.aborted).toBe(false);
    orchestrator.cancel(`hang-${isolation}`);
    expect((await running).outcome).toBe('canceled');
    expect(contexts[0]?.signal.aborted).toBe(true);
  });

  it('a program that calls without waiting for the answer still ends', async () => {
    const result = await orchestrator.exec({
      isolation,
      tools: ['*'],
      code: `${NODE} attempt('hang'); process.exit(0);`,
    });
    expect(result.outcome).toBe('succeeded');
  });
});

it('every call is an event once it is answered', async () => {
  const gate = deferred<void>();
  await using other = createOrchestrator({
    tools: toolList([['wait', { description: 'Waits.', execute: async () => gate.promise }]]),
  });
  const job = other.stream({
    kind: 'exec',
    isolation: 'none',
    tools: ['wait'],
    code: "import { callTool } from 'skillcell'; await callTool('wait');",
  });
  const events: string[] = [];
  for await (const event of job) {
    events.push(event.type === 'call' ? `call ${event.call.name} ${event.call.ok}` : event.type);
    if (event.type === 'run') gate.resolve(undefined);
  }
  expect(events).toContain('call wait true');
  expect(events.indexOf('call wait true')).toBeLessThan(events.indexOf('finished'));
});
