/** Global key of the registry that all copies of `@opentelemetry/api` 1.x in a process share. */
const REGISTRY = Symbol.for('opentelemetry.js.api.1');
const TRACER_NAME = 'skillcell';

/** Value of a span attribute. */
export type AttributeValue = string | number | boolean | string[];

/** A context of `@opentelemetry/api`: values that follow the control flow. */
export interface TraceContext {
  getValue(key: symbol): unknown;
  setValue(key: symbol, value: unknown): TraceContext;
  deleteValue(key: symbol): TraceContext;
}

/** The methods of a span that are used here. */
export interface RegisteredSpan {
  setAttributes(attributes: Record<string, AttributeValue>): unknown;
  setStatus(status: { code: number; message: string }): unknown;
  end(at?: number): void;
}

/** The method of a tracer that is used here; it exists since 1.0. */
export interface RegisteredTracer {
  startSpan(
    name: string,
    options: { kind: number; attributes: Record<string, AttributeValue> },
    context: TraceContext,
  ): RegisteredSpan;
}

/** The methods of a context manager that are used here. */
export interface RegisteredContexts {
  active(): TraceContext;
  with<T>(context: TraceContext, fn: () => T): T;
}

/** The tracer and the context manager that this process has registered. */
export interface RegisteredTracing {
  tracer: RegisteredTracer;
  /** Absent without a context manager: then there is no active span. */
  contexts: RegisteredContexts | undefined;
}

interface Registry {
  trace?: { getTracer(name: string): RegisteredTracer };
  context?: RegisteredContexts;
}

/**
 * Reads the current registration, which may change over time; undefined where no tracer is registered. The package itself is not loaded: a
 * copy of a later version than the registered one would find nothing (docs/decisions/2026-11-24-spans-by-what-is-registered.md).
 */
export function registeredTracing(): RegisteredTracing | undefined {
  const registry = (globalThis as { [REGISTRY]?: Registry })[REGISTRY];
  if (registry?.trace === undefined) return undefined;
  return { tracer: registry.trace.getTracer(TRACER_NAME), contexts: registry.context };
}

/** The context of a process without a context manager. */
export const EMPTY_CONTEXT: TraceContext = contextOf(new Map());

function contextOf(values: ReadonlyMap<symbol, unknown>): TraceContext {
  return {
    getValue: (key) => values.get(key),
    setValue: (key, value) => contextOf(new Map(values).set(key, value)),
    deleteValue: (key) => contextOf(new Map([...values].filter(([known]) => known !== key))),
  };
}
