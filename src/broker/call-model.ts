import * as z from 'zod/mini';
import { SkillcellError } from '../contracts/skillcell-error.ts';
import { refusal, type BrokerReply } from './broker-call.ts';
import type { ModelGateway, ModelRequest } from './model-gateway.ts';
import { ModelTimeoutError } from './model-timeout-error.ts';
import { withinDeadline } from '../protocol/within-deadline.ts';

/** Characters of an answer; a longer one is no program. */
const ANSWER_CHARACTERS = 2 * 1024 * 1024;

const requestSchema = z.strictObject({
  model: z.optional(z.string().check(z.maxLength(200))),
  system: z.string(),
  messages: z
    .array(z.strictObject({ role: z.enum(['user', 'assistant']), content: z.string() }))
    .check(z.minLength(1), z.maxLength(200)),
  maxOutputTokens: z.optional(z.number().check(z.int(), z.minimum(1), z.maximum(1_000_000))),
}) as unknown as z.ZodMiniType<ModelRequest>;

/** Options of {@link callModel}. */
export interface CallModelOptions {
  gateway: ModelGateway;
  /** The model that the host chose for this job; a request for another one is refused. */
  modelName: string | undefined;
  args: unknown;
  timeoutMs: number;
  signal: AbortSignal;
  /** Gets what the orchestrator has to know: why the model did not answer. */
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
  if (!parsed.success) return refusal('the request for the model has another form than { system, messages }');
  const { model, ...request } = parsed.data;
  if (model !== undefined && model !== (modelName ?? gateway.id)) return refusal('the job has another model');

  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(new ModelTimeoutError(options.timeoutMs)), options.timeoutMs);
  const both = AbortSignal.any([signal, deadline.signal]);
  try {
    const asked = modelName === undefined ? request : { ...request, model: modelName };
    const answer = await withinDeadline(gateway.generate(asked, { signal: both }), { signal: both });
    if (answer.text.length > ANSWER_CHARACTERS) {
      throw new SkillcellError(
        'model.failed',
        `Cannot use the model's answer: it may have ${ANSWER_CHARACTERS} characters, got ${answer.text.length}.`,
      );
    }
    return { ok: true, value: answer };
  } catch (error) {
    if (signal.aborted) return refusal('the job is over');
    const failure = error instanceof Error ? error : new Error(String(error));
    options.onFailure(failure);
    const name = failure instanceof ModelTimeoutError ? failure.name : 'ModelFailed';
    const message = failure instanceof ModelTimeoutError ? failure.message : 'The model gave no usable answer.';
    return { ok: false, error: { name, message } };
  } finally {
    clearTimeout(timer);
  }
}
