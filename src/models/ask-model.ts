import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import { withinDeadline } from '../protocol/within-deadline.ts';
import type { ModelBudget } from './model-budget.ts';
import type { ModelAnswer, ModelGateway, ModelRequest } from './model-gateway.ts';
import { ModelTimeoutError } from './model-timeout-error.ts';
import { sanitizeErrorText } from './redact.ts';
import { usableAnswer } from './usable-answer.ts';

/** Gateway, model and limits of one request. */
export interface AskModelOptions {
  gateway: ModelGateway;
  /** The model that the host chose; without it the gateway's own. */
  modelName: string | undefined;
  /** Deadline of this request, in milliseconds. */
  timeoutMs: number;
  signal: AbortSignal;
  budget?: ModelBudget | undefined;
  /** Called before a request is made; the returned function is called with its answer. */
  observe?: ((request: ModelRequest) => (answer: ModelAnswer) => void) | undefined;
  around?: AroundModel | undefined;
}

/** Wraps a request to a model, for example in a trace; it must call `ask`. It gets the model's name, but no prompt. */
export type AroundModel = (
  asked: { model: string; maxOutputTokens: number | undefined },
  ask: () => Promise<ModelAnswer>,
) => Promise<ModelAnswer>;

/**
 * Asks a model once, within the deadline of one request and the budget of its job.
 *
 * @throws the signal's reason once it is aborted, `ModelTimeoutError`, `BudgetReachedError`, or a `SkillcellError` with a `model.` code
 */
export async function askModel(request: ModelRequest, options: AskModelOptions): Promise<ModelAnswer> {
  const { gateway, modelName, timeoutMs, signal, budget, around = (_asked, ask) => ask() } = options;
  signal.throwIfAborted();
  const named = modelName === undefined ? request : { ...request, model: modelName };
  const asked = budget?.admit(named) ?? named;
  const answered = options.observe?.(asked);
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(new ModelTimeoutError(timeoutMs)), timeoutMs);
  const both = AbortSignal.any([signal, deadline.signal]);
  try {
    const { model = gateway.id, maxOutputTokens } = asked;
    const answer = await around({ model, maxOutputTokens }, () => generate(gateway, asked, both));
    budget?.spend(asked, answer);
    answered?.(answer);
    return answer;
  } finally {
    clearTimeout(timer);
  }
}

/** Gateways may be third-party code: their errors are reported as failures of the model, without possible keys. */
async function generate(gateway: ModelGateway, request: ModelRequest, signal: AbortSignal): Promise<ModelAnswer> {
  try {
    return usableAnswer(await withinDeadline(gateway.generate(request, { signal }), { signal }), gateway);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (SkillcellError.isInstance(error)) throw error;
    const said = sanitizeErrorText(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
    throw new SkillcellError(
      'model.failed',
      `Cannot ask ${gateway.id}: the gateway failed with ${JSON.stringify(said)}.`,
    );
  }
}
