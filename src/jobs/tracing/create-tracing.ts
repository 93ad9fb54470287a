import type { Logger } from 'pino';
import { EMPTY_CONTEXT, registeredTracing } from './registered-tracing.ts';
import {
  beginSpan,
  hasSpan,
  NO_SPAN,
  type SpanAttributes,
  type SpanName,
  type SpanPlace,
  type TraceSpan,
} from './trace-span.ts';

/** The spans of one orchestrator. */
export interface Tracing {
  /**
   * Begins a span below the active span of the caller.
   *
   * @param otherwise the parent where no span is active
   */
  begin(name: SpanName, attributes: SpanAttributes, otherwise?: TraceSpan): TraceSpan;
}

/** Creates the spans of one orchestrator. The first failure of the process's tracer is logged, later ones are not. */
export function createTracing(logger: Logger | undefined): Tracing {
  let said = false;
  const guard: SpanPlace['guard'] = (work) => {
    try {
      return work();
    } catch (error) {
      // A failing tracer must not fail a job.
      if (!said) logger?.warn({ err: error }, 'spans cannot be recorded: the tracer of this process failed');
      said = true;
      return undefined;
    }
  };
  return {
    begin(name, attributes, otherwise = NO_SPAN) {
      const tracing = guard(registeredTracing);
      if (tracing === undefined) return NO_SPAN;
      const context = guard(() => tracing.contexts?.active()) ?? EMPTY_CONTEXT;
      const place = { tracing, context, guard };
      return otherwise === NO_SPAN || hasSpan(place)
        ? beginSpan(name, attributes, place)
        : otherwise.begin(name, attributes);
    },
  };
}
