import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import type { ModelAnswer, ModelGateway } from './model-gateway.ts';

/** The most characters of an answer. */
const ANSWER_CHARACTERS = 2 * 1024 * 1024;

/**
 * Checks an answer of a gateway, which may be third-party code. Missing fields become unknown values; without a text, it is refused.
 *
 * @throws SkillcellError `model.failed`
 */
export function usableAnswer(given: ModelAnswer | undefined, { id }: Pick<ModelGateway, 'id'>): ModelAnswer {
  const { text, usage, model, finishReason } = given ?? ({} as Partial<ModelAnswer>);
  if (typeof text !== 'string') throw unusable(`it must be a text, got ${typeof text}`);
  if (text.length > ANSWER_CHARACTERS)
    throw unusable(`it may have ${ANSWER_CHARACTERS} characters, got ${text.length}`);
  return {
    text,
    usage: { inputTokens: tokens(usage?.inputTokens), outputTokens: tokens(usage?.outputTokens) },
    model: typeof model === 'string' ? model : id,
    finishReason: typeof finishReason === 'string' ? finishReason : 'other',
  };
}

function tokens(count: unknown): number | null {
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : null;
}

function unusable(reason: string): SkillcellError {
  return new SkillcellError('model.failed', `Cannot use the model's answer: ${reason}.`);
}
