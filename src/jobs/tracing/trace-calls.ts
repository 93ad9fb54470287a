import type { AroundCall } from '../../tools/calls/broker.ts';
import { inSpan } from './in-span.ts';
import type { TraceSpan } from './trace-span.ts';

/**
 * A span for each call of a program to its tools, and of its agent to the host. Requests to a model are left to `traceModels`.
 *
 * @param parent returns the parent span of a call that is made now
 */
export function traceCalls(parent: () => TraceSpan): AroundCall {
  return ({ id, target, name }, make) => {
    if (target === 'model') return make();
    const span = parent().begin('call', {
      'skillcell.call.id': id,
      'skillcell.call.target': target,
      'skillcell.call.name': name,
      ...(target === 'tool' ? { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': name } : {}),
    });
    return inSpan(span, make, {
      ended: ({ reply, replayed }) => ({
        error: reply.ok ? undefined : reply.error.code,
        attributes: replayed ? { 'skillcell.call.replayed': true } : {},
      }),
    });
  };
}
