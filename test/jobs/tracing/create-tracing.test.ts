import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTracing } from '../../../src/jobs/tracing/create-tracing.ts';
import { EMPTY_CONTEXT, type TraceContext } from '../../../src/jobs/tracing/registered-tracing.ts';
import { NO_SPAN } from '../../../src/jobs/tracing/trace-span.ts';

const REGISTRY = Symbol.for('opentelemetry.js.api.1');
const SPAN = Symbol.for('OpenTelemetry Context Key SPAN');
const place = globalThis as { [REGISTRY]?: unknown };
const storage = new AsyncLocalStorage<TraceContext>();

/** Names of begun spans, each with the name of its parent. */
let begun: [name: string, below: unknown][];
beforeEach(() => {
  begun = [];
  const startSpan = (name: string, _options: unknown, context: TraceContext): object => {
    begun.push([name, (context.getValue(SPAN) as { name: string } | undefined)?.name]);
    return { name, setAttributes: () => undefined, setStatus: () => undefined, end: () => undefined };
  };
  place[REGISTRY] = {
    trace: { getTracer: () => ({ startSpan }) },
    context: { active: () => storage.getStore() ?? EMPTY_CONTEXT, with: storage.run.bind(storage) },
  };
});
afterEach(() => {
  delete place[REGISTRY];
});

it('a span begins below the active span, and without one below the given parent', () => {
  const tracing = createTracing(undefined);
  const job = tracing.begin('job', {});
  tracing.begin('run', {}, job).end();
  storage.run(EMPTY_CONTEXT.setValue(SPAN, { name: 'caller' }), () => tracing.begin('run', {}, job).end());
  job.within(() => tracing.begin('call', {}).end());
  expect(begun).toEqual([
    ['job', undefined],
    ['run', 'job'],
    ['run', 'caller'],
    ['call', 'job'],
  ]);
});

it('no span begins below an ended span, and a late registration is found', () => {
  const tracing = createTracing(undefined);
  const registry = place[REGISTRY];
  delete place[REGISTRY];
  expect(tracing.begin('job', {})).toBe(NO_SPAN);
  place[REGISTRY] = registry;
  const job = tracing.begin('job', {});
  job.end();
  expect(job.begin('run')).toBe(NO_SPAN);
  expect(begun).toEqual([['job', undefined]]);
});
