/** Where every copy of `@opentelemetry/api` 1.x in a process keeps what was registered with any of them. */
const REGISTRY = Symbol.for('opentelemetry.js.api.1');
const TRACER_NAME = 'skillcell';

/** What may be said of a span. */
export type AttributeValue = string | number | boolean | string[];

/** A context of `@opentelemetry/api`: values that go along with what is under way. */
export interface TraceContext {
  getValue(key: symbol): unknown;
  setValue(key: symbol, value: unknown): TraceContext;
  deleteValue(key: symbol): TraceContext;
}

/** What is used of a span. */
export interface RegisteredSpan {
  setAttributes(attributes: Record<string, AttributeValue>): unknown;
  setStatus(status: { code: number; message: string }): unknown;
  end(at?: number): void;
}

/** What is used of a tracer, and has been there since 1.0. */
export interface RegisteredTracer {
  startSpan(
    name: string,
    options: { kind: number; attributes: Record<string, AttributeValue> },
    context: TraceContext,
  ): RegisteredSpan;
}

/** What is used of a context manager. */
export interface RegisteredContexts {
  active(): TraceContext;
  with<T>(context: TraceContext, fn: () => T): T;
}

/** What this process has registered to record spans with. */
export interface RegisteredTracing {
  tracer: RegisteredTracer;
  /** Absent where nothing follows the active span. */
  contexts: RegisteredContexts | undefined;
}

interface Registry {
  trace?: { getTracer(name: string): RegisteredTracer };
  context?: RegisteredContexts;
}

/**
 * Reads what is registered now, which may be more than a moment ago; undefined where nobody records spans. The package is not loaded
 * for it: a copy of a later version than the registered one would find nothing (docs/decisions/2026-11-24-spans-by-what-is-registered.md).
 */
export function registeredTracing(): RegisteredTracing | undefined {
  const registry = (globalThis as { [REGISTRY]?: Registry })[REGISTRY];
  if (registry?.trace === undefined) return undefined;
  return { tracer: registry.trace.getTracer(TRACER_NAME), contexts: registry.context };
}

/** The context of a process that follows none. */
export const EMPTY_CONTEXT: TraceContext = contextOf(new Map());

function contextOf(values: ReadonlyMap<symbol, unknown>): TraceContext {
  return {
    getValue: (key) => values.get(key),
    setValue: (key, value) => contextOf(new Map(values).set(key, value)),
    deleteValue: (key) => contextOf(new Map([...values].filter(([known]) => known !== key))),
  };
}
