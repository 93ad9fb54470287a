import type { AroundModel } from '../../models/ask-model.ts';
import { inSpan } from './in-span.ts';
import type { TraceSpan } from './trace-span.ts';

/** Known finish reasons; a gateway of a caller may return any text. */
const FINISH_REASONS: ReadonlySet<string> = new Set(['stop', 'length', 'content-filter', 'tool-calls', 'error']);

/**
 * A span for each request to a model, with the names of OpenTelemetry's conventions for generative AI.
 *
 * @param parent returns the parent span of a request that is made now
 * @param stage the part of a job that asks
 */
export function traceModels(parent: () => TraceSpan, stage: 'decision' | 'codegen' | 'generate'): AroundModel {
  return ({ model, maxOutputTokens }, ask) => {
    const [provider] = model.split('/', 1);
    const span = parent().begin('model', {
      'skillcell.model.stage': stage,
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': provider,
      'gen_ai.request.model': modelOf(model),
      'gen_ai.request.max_tokens': maxOutputTokens,
    });
    return inSpan(span, ask, {
      ended: ({ model: answered, usage, finishReason }) => ({
        attributes: {
          'gen_ai.response.model': modelOf(answered),
          'gen_ai.response.finish_reasons': [FINISH_REASONS.has(finishReason) ? finishReason : 'other'],
          'gen_ai.usage.input_tokens': usage.inputTokens,
          'gen_ai.usage.output_tokens': usage.outputTokens,
        },
      }),
      // An error without a code is the reason of the job's own signal.
      otherError: 'canceled',
    });
  };
}

/** Name without the provider, as the service itself calls the model. */
function modelOf(name: string): string {
  return name.slice(name.indexOf('/') + 1);
}
