import type { AroundModel } from '../../models/ask-model.ts';
import { inSpan } from './in-span.ts';
import type { TraceSpan } from './trace-span.ts';

/** What finish reasons there are; a gateway may be anyone's. */
const FINISH_REASONS: ReadonlySet<string> = new Set(['stop', 'length', 'content-filter', 'tool-calls', 'error']);

/**
 * A span for each request to a model, with the names of OpenTelemetry's conventions for generative AI.
 *
 * @param parent below which a request that is made now belongs
 * @param stage what of a job asks
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
      // Whatever else a request ends with is the reason why its job did.
      otherError: 'canceled',
    });
  };
}

/** Without its provider, as the service itself calls it. */
function modelOf(name: string): string {
  return name.slice(name.indexOf('/') + 1);
}
