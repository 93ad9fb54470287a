import * as z from 'zod/mini';
import { askModel, type AskModelOptions } from '../../models/ask-model.ts';
import { refusal, type BrokerReply } from './broker-call.ts';
import { BudgetReachedError } from '../../models/model-budget.ts';
import type { ModelRequest } from '../../models/model-gateway.ts';
import { ModelTimeoutError } from '../../models/model-timeout-error.ts';

const requestSchema = z.strictObject({
  model: z.optional(z.string().check(z.maxLength(200))),
  system: z.string(),
  messages: z
    .array(z.strictObject({ role: z.enum(['user', 'assistant']), content: z.string() }))
    .check(z.minLength(1), z.maxLength(200)),
  maxOutputTokens: z.optional(z.number().check(z.int(), z.minimum(1), z.maximum(1_000_000))),
}) as unknown as z.ZodMiniType<ModelRequest>;

/** Options of {@link callModel}. A request for another model than the host's choice is refused. */
export interface CallModelOptions extends AskModelOptions {
  args: unknown;
  /** Gets the reason why the model did not answer, for the orchestrator. */
  onFailure(error: Error): void;
}

/**
 * Asks the model for a sandbox, within the deadline of one request. The sandbox learns only that the model failed or
 * was too slow; the reason goes to the host.
 *
 * @returns the answer or a sanitised error; never throws
 */
export async function callModel(options: CallModelOptions): Promise<BrokerReply> {
  const { gateway, modelName, signal } = options;
  const parsed = z.safeParse(requestSchema, options.args);
  if (!parsed.success)
    return refusal('tool.invalid-arguments', 'the request for the model has another form than { system, messages }');
  const { model, ...request } = parsed.data;
  if (model !== undefined && model !== (modelName ?? gateway.id))
    return refusal('tool.not-allowed', 'the job has another model');

  try {
    return { ok: true, value: await askModel(request, options) };
  } catch (error) {
    if (signal.aborted) return refusal('tool.job-over', 'the job is over');
    // The budget itself informs the host: the model has not failed.
    if (error instanceof BudgetReachedError)
      return { ok: false, error: { code: 'tool.limit', message: error.message } };
    const failure = error instanceof Error ? error : new Error(String(error));
    options.onFailure(failure);
    const code = failure instanceof ModelTimeoutError ? 'model.timeout' : 'model.failed';
    const message = failure instanceof ModelTimeoutError ? failure.message : 'The model gave no usable answer.';
    return { ok: false, error: { code, message } };
  }
}
