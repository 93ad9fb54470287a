import { ModelTimeoutError } from '../../models/model-timeout-error.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { NO_SPAN, type SpanEnding, type TraceSpan } from './trace-span.ts';

/** What a span says of its work. */
export interface SpanOptions<T> {
  /** How it ends with what came of the work. */
  ended?(value: T): SpanEnding;
  /** The code of an error that has none. @default 'internal.fault' */
  otherError?: string;
}

/** Does work with a span as the active one, which ends with it. */
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

/** Begins work that goes on beyond this, and ends its span. What does not even begin ends the span here. */
export async function beginInSpan<T>(span: TraceSpan, begin: () => Promise<T>): Promise<T> {
  try {
    return await begin();
  } catch (error) {
    span.end({ error: codeOf(error) ?? 'internal.fault' });
    throw error;
  }
}

/** A message may hold what no span may; a code holds nothing. */
function codeOf(error: unknown): string | undefined {
  if (SkillcellError.isInstance(error)) return error.code;
  return error instanceof ModelTimeoutError ? 'model.timeout' : undefined;
}
