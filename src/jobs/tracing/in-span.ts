import { ModelTimeoutError } from '../../models/model-timeout-error.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { NO_SPAN, type SpanEnding, type TraceSpan } from './trace-span.ts';

/** Attributes and errors of a span. */
export interface SpanOptions<T> {
  /** Ending of the span for the result of its work. */
  ended?(value: T): SpanEnding;
  /** Code for an error without a code. @default 'internal.fault' */
  otherError?: string;
}

/** Runs work with `span` as the active span, and ends the span with the work. */
export async function inSpan<T>(
  span: TraceSpan,
  work: () => Promise<T>,
  { ended = () => ({}), otherError = 'internal.fault' }: SpanOptions<T> = {},
): Promise<T> {
  if (span === NO_SPAN) return await work();
  let value: T;
  try {
    value = await span.within(work);
  } catch (error) {
    span.end({ error: codeOf(error) ?? otherError });
    throw error;
  }
  span.end(ended(value));
  return value;
}

/** Begins work that outlives this call and ends its own span. The span ends here only if the beginning fails. */
export async function beginInSpan<T>(span: TraceSpan, begin: () => Promise<T>): Promise<T> {
  try {
    return await begin();
  } catch (error) {
    span.end({ error: codeOf(error) ?? 'internal.fault' });
    throw error;
  }
}

/** Only the code goes into a span: an error message may hold secrets or user data. */
function codeOf(error: unknown): string | undefined {
  if (SkillcellError.isInstance(error)) return error.code;
  return error instanceof ModelTimeoutError ? 'model.timeout' : undefined;
}
