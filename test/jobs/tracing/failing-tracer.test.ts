import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { defineTool } from '../../../src/tools/define/tool.ts';
import { createLogger } from '../../../src/jobs/create-logger.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import { createTracing } from '../../../src/jobs/tracing/create-tracing.ts';
import { inSpan } from '../../../src/jobs/tracing/in-span.ts';
import { BEST_LEVEL } from '../../fixtures/levels.ts';

const REGISTRY = Symbol.for('opentelemetry.js.api.1');
const FAULT = 'the tracer is broken';
const broken = (): never => {
  throw new Error(FAULT);
};

afterEach(() => {
  delete (globalThis as { [REGISTRY]?: unknown })[REGISTRY];
});

/** Replaces the registry of the package. */
function register(registry: unknown): void {
  (globalThis as { [REGISTRY]?: unknown })[REGISTRY] = registry;
}

const context = { getValue: () => undefined, setValue: () => context, deleteValue: () => context };
const span = { setAttributes: () => undefined, setStatus: () => undefined, end: () => undefined };
const contexts = { active: () => context, with: (_context: unknown, fn: () => unknown) => fn() };
const tracerOf = (startSpan: unknown): object => ({ getTracer: () => ({ startSpan }) });
const sound = tracerOf(() => span);

/** Registries, by the part that fails. */
const FAULTS: Record<string, unknown> = {
  'the registry': {
    get trace() {
      return broken();
    },
  },
  'its malformed provider': { trace: {} },
  getTracer: { trace: { getTracer: broken } },
  'getTracer, which gives no tracer': { trace: { getTracer: () => undefined } },
  startSpan: { trace: tracerOf(broken), context: contexts },
  'startSpan, which gives no span': { trace: tracerOf(() => ({})), context: contexts },
  setAttributes: { trace: tracerOf(() => ({ ...span, setAttributes: broken })), context: contexts },
  setStatus: { trace: tracerOf(() => ({ ...span, setStatus: broken })), context: contexts },
  end: { trace: tracerOf(() => ({ ...span, end: broken })), context: contexts },
  active: { trace: sound, context: { ...contexts, active: broken } },
  getValue: { trace: sound, context: { ...contexts, active: () => ({ ...context, getValue: broken }) } },
  setValue: { trace: sound, context: { ...contexts, active: () => ({ ...context, setValue: broken }) } },
  'with, before it calls': { trace: sound, context: { ...contexts, with: broken } },
  'with, after it has called': {
    trace: sound,
    context: {
      ...contexts,
      with(_context: unknown, fn: () => unknown) {
        fn();
        return broken();
      },
    },
  },
};

/** Registries with odd behavior that throws no error. */
const ODDITIES: Record<string, unknown> = {
  'a registry that is a number': 42,
  'an empty registry': {},
  'an undefined context': { trace: sound, context: { ...contexts, active: () => undefined } },
  'a with that never calls': { trace: sound, context: { ...contexts, with: () => undefined } },
  'a with that calls twice': {
    trace: sound,
    context: {
      ...contexts,
      with(_context: unknown, fn: () => unknown) {
        fn();
        return fn();
      },
    },
  },
  'a with that calls late': {
    trace: sound,
    context: { ...contexts, with: (_context: unknown, fn: () => unknown) => void setImmediate(fn) },
  },
};

/** Does work in spans of all kinds, and returns its outcome and the log. */
async function workWatched(): Promise<{ done: number; value: unknown; thrown: unknown; logged: string[] }> {
  const logged: string[] = [];
  const logger = createLogger({ destination: { write: (line) => void logged.push(line) } });
  const tracing = createTracing(logger);
  let done = 0;
  const work = (): Promise<number> => Promise.resolve((done += 1));
  const outer = tracing.begin('job', { 'skillcell.job.id': 'j' });
  const below = tracing.begin('run', {}, outer);
  below.set({ 'skillcell.run.number': 1 });
  const value = await inSpan(outer.begin('call'), work);
  const failing = inSpan(below, () => Promise.reject(new Error('of the work')));
  const thrown = await failing.catch((error: unknown) => error);
  outer.end({ error: 'failed' });
  await nextTurn();
  return { done, value, thrown, logged };
}

describe('work in a span is done once, and keeps its outcome', () => {
  it.each(Object.entries(FAULTS))('when %s fails, which is logged once', async (_part, registry) => {
    register(registry);
    const { done, value, thrown, logged } = await workWatched();
    expect([done, value, thrown]).toEqual([1, 1, new Error('of the work')]);
    expect(logged.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
      'spans cannot be recorded: the tracer of this process failed',
    ]);
  });

  it.each(Object.entries(ODDITIES))('with %s', async (_part, registry) => {
    register(registry);
    const { done, value, thrown, logged } = await workWatched();
    expect([done, value, thrown, logged]).toEqual([1, 1, new Error('of the work'), []]);
  });
});

it('a job goes on if the whole tracer fails', async () => {
  register({
    trace: tracerOf(() => ({ setAttributes: broken, setStatus: broken, end: broken })),
    context: { active: () => context, with: broken },
  });
  const logged: string[] = [];
  const calls: unknown[] = [];
  await using orchestrator = createOrchestrator({
    tools: [defineTool({ id: 'box.note', description: 'Notes.', execute: async (input) => calls.push(input) })],
    logger: createLogger({ level: 'warn', destination: { write: (line) => void logged.push(line) } }),
  });
  const code = "import { tools } from 'skillcell'; await tools.box.note({ n: 1 }); export default 7;";
  for (const round of [1, 2]) {
    const { outcome, value } = await orchestrator.exec({ isolation: BEST_LEVEL, tools: ['box.note'], code });
    expect([outcome, value, calls.length]).toEqual(['succeeded', 7, round]);
  }
  expect(logged).toEqual([expect.stringContaining(FAULT)]);
});
