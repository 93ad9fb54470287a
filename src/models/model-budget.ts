import type { JobBudget } from '../contracts/jobs/job.ts';
import type { ModelAnswer, ModelRequest } from './model-gateway.ts';

/** A limit of a budget that applies to models. */
export type ModelLimit = 'tokens' | 'model-calls';

const BYTES_PER_TOKEN = 4;
/** Every model supports answers of this length. A service refuses a request for a longer answer than its model supports. */
const SURE_ANSWER_TOKENS = 4_096;

/** Budget for all model requests of one job, from all its parts. */
export interface ModelBudget {
  /** The first refusal; undefined if there was none. */
  readonly reached: BudgetReachedError | undefined;
  /**
   * Counts a request before it is made.
   *
   * @returns the request, with its answer limited to the rest of the budget when little is left
   * @throws BudgetReachedError if the budget does not cover it
   */
  admit(request: ModelRequest): ModelRequest;
  /** Counts the usage of an admitted request. Where the service reports none, a token counts as four bytes. */
  spend(admitted: ModelRequest, answer: ModelAnswer): void;
}

/** Error for a request that was not made, because the job's budget does not cover it. */
export class BudgetReachedError extends Error {
  override readonly name = 'BudgetReached';
  readonly limit: ModelLimit;

  constructor(limit: ModelLimit, message: string) {
    super(message);
    this.limit = limit;
  }
}

/** Creates the budget of one job. An absent limit is infinite. */
export function createModelBudget(budget: JobBudget = {}): ModelBudget {
  const { modelCalls = Infinity, inputTokens = Infinity, outputTokens = Infinity } = budget;
  let calls = 0;
  let input = 0;
  let output = 0;
  let reached: BudgetReachedError | undefined;

  const refuse = (limit: ModelLimit, message: string): BudgetReachedError => {
    const error = new BudgetReachedError(limit, message);
    reached ??= error;
    return error;
  };

  return {
    get reached() {
      return reached;
    },
    admit(request) {
      const tokens = inputEstimate(request);
      if (calls >= modelCalls) throw refuse('model-calls', `The job may make ${modelCalls} requests to the model.`);
      if (input + tokens > inputTokens)
        throw refuse('tokens', `The job may send ${inputTokens} tokens, and its next request has about ${tokens}.`);
      if (output >= outputTokens) throw refuse('tokens', `The job may be answered with ${outputTokens} tokens.`);
      calls += 1;
      input += tokens;
      const left = outputTokens - output;
      if (left > SURE_ANSWER_TOKENS) return request;
      return { ...request, maxOutputTokens: Math.min(request.maxOutputTokens ?? left, left) };
    },
    spend(admitted, { text, usage }) {
      if (usage.inputTokens !== null) input += usage.inputTokens - inputEstimate(admitted);
      output += usage.outputTokens ?? estimate(text);
    },
  };
}

function inputEstimate({ system, messages }: ModelRequest): number {
  return messages.reduce((sum, { content }) => sum + estimate(content), estimate(system));
}

function estimate(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}
