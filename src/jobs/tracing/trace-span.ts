import type { AttributeValue, RegisteredSpan, RegisteredTracing, TraceContext } from './registered-tracing.ts';

/** Names of the spans of a job. */
export type SpanName = 'job' | 'start' | 'attempt' | 'model' | 'call' | 'run' | 'collect';

/** Attributes of a span: ids, kinds, counts. Undefined and null values are left out. */
export type SpanAttributes = Readonly<Record<string, AttributeValue | null | undefined>>;

/** How a span ends. */
export interface SpanEnding {
  /** Error code; sets the status of the span to error. */
  error?: string | undefined;
  attributes?: SpanAttributes | undefined;
  /** End of the work by `performance.now()`, if it was earlier than this call. */
  at?: number | undefined;
}

/** A span of any tracer. Errors of the tracer never reach the caller. */
export interface TraceSpan {
  /** Begins a span below this one; `NO_SPAN` after this one has ended. */
  begin(name: SpanName, attributes?: SpanAttributes): TraceSpan;
  set(attributes: SpanAttributes): void;
  /** Calls a function once, with this span as the active span. */
  within<T>(fn: () => T): T;
  /** Ends the span after all open spans below it. Idempotent. */
  end(ending?: SpanEnding): void;
}

/** A span that is not recorded. */
export const NO_SPAN: TraceSpan = {
  begin: () => NO_SPAN,
  set: () => undefined,
  within: (fn) => fn(),
  end: () => undefined,
};

/** Where a span begins. */
export interface SpanPlace {
  tracing: RegisteredTracing;
  /** Active context, the parent of the span. */
  context: TraceContext;
  /** Calls the tracer; an error becomes `undefined`. */
  guard<T>(work: () => T): T | undefined;
}

/** Key of the span in a context; the same for each copy of the package. */
const SPAN_KEY = Symbol.for('OpenTelemetry Context Key SPAN');
/** `SpanKind` and `SpanStatusCode` of the package. */
const [INTERNAL, CLIENT] = [0, 2];
const ERROR = 2;

/** Whether a span is active in a context. */
export function hasSpan({ context, guard }: SpanPlace): boolean {
  return (guard(() => context.getValue(SPAN_KEY)) ?? undefined) !== undefined;
}

/** Begins a span. */
export function beginSpan(
  name: SpanName,
  attributes: SpanAttributes,
  place: SpanPlace,
  onEnd: () => void = () => undefined,
): TraceSpan {
  const { tracing, guard } = place;
  // Semantic conventions of generative AI: a model request is a client span.
  const options = { kind: name === 'model' ? CLIENT : INTERNAL, attributes: known(attributes) };
  const span = guard(() => tracing.tracer.startSpan(name, options, place.context));
  const context = span === undefined ? place.context : withSpan(place, span);
  const open = new Set<TraceSpan>();
  let ended = false;
  return {
    begin(childName, childAttributes = {}) {
      if (ended) return NO_SPAN;
      const child = beginSpan(childName, childAttributes, { ...place, context }, () => open.delete(child));
      open.add(child);
      return child;
    },
    set(more) {
      if (!ended) guard(() => span?.setAttributes(known(more)));
    },
    within: (fn) => callWithin({ ...place, context }, fn),
    end({ error, attributes: last = {}, at } = {}) {
      if (ended) return;
      ended = true;
      for (const child of [...open].toReversed()) child.end({ error: error ?? CUT_OFF });
      guard(() => span?.setAttributes(known(error === undefined ? last : { ...last, 'error.type': error })));
      if (error !== undefined) guard(() => span?.setStatus({ code: ERROR, message: error }));
      guard(() => span?.end(at));
      onEnd();
    },
  };
}

/** Error of a span that was still open when its parent ended. */
const CUT_OFF = 'canceled';

function withSpan({ context, guard }: SpanPlace, span: RegisteredSpan): TraceContext {
  return guard(() => context.setValue(SPAN_KEY, span)) ?? context;
}

/** Returns or throws the outcome of `fn`, even if the context manager fails. */
function callWithin<T>({ tracing: { contexts }, context, guard }: SpanPlace, fn: () => T): T {
  if (contexts === undefined) return fn();
  let outcome: { value: T } | { thrown: unknown } | undefined;
  const once = (): void => {
    try {
      outcome ??= { value: fn() };
    } catch (thrown) {
      outcome = { thrown };
    }
  };
  guard(() => contexts.with(context, once));
  if (outcome === undefined) once();
  const settled = outcome as unknown as { value: T } | { thrown: unknown };
  if ('thrown' in settled) throw settled.thrown;
  return settled.value;
}

function known(attributes: SpanAttributes): Record<string, AttributeValue> {
  const given: Record<string, AttributeValue> = {};
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined && value !== null) given[name] = value;
  return given;
}
