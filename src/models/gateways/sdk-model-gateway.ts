import type { LanguageModel } from 'ai';
import type { ModelGateway } from '../model-gateway.ts';
import { DEFAULT_MODEL_RETRY } from './model-retry.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';

/** A language model of the AI SDK, as its providers make it: `anthropic('claude-sonnet-4-5')`. */
export interface SdkModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  // Typed loosely, because only the SDK calls these and its types change between versions.
  doGenerate(options: never): PromiseLike<unknown>;
  doStream(options: never): PromiseLike<unknown>;
}

/** Whether a value is a model of the AI SDK. */
export function isSdkModel(value: unknown): value is SdkModel {
  if (typeof value !== 'object' || value === null) return false;
  const { specificationVersion, provider, modelId, doGenerate } = value as Partial<SdkModel>;
  const texts = [specificationVersion, provider, modelId].every((text) => typeof text === 'string');
  return texts && typeof doGenerate === 'function';
}

/** Whether a value is a model gateway. */
export function isModelGateway(value: unknown): value is ModelGateway {
  if (typeof value !== 'object' || value === null) return false;
  const { id, generate } = value as Partial<ModelGateway>;
  return typeof id === 'string' && typeof generate === 'function';
}

/** The gateway to a model in either form. */
export function modelGateway(model: ModelGateway | SdkModel): ModelGateway {
  return isModelGateway(model) ? model : sdkModelGateway(model);
}

/** A gateway to a model from the caller. Key and address stay with the caller's provider. */
function sdkModelGateway(model: SdkModel): ModelGateway {
  // Providers name their parts with a dot, `anthropic.messages`.
  const id = `${model.provider.split('.')[0]}/${model.modelId}`;
  return {
    id,
    async generate(request, { signal }) {
      signal.throwIfAborted();
      if (request.model !== undefined && request.model !== id) {
        throw new SkillcellError(
          'model.not-configured',
          `Cannot ask ${request.model}: the only model of the orchestrator is ${id}.`,
        );
      }
      const { askSdkModel } = await import('./ask-sdk-model.ts');
      return askSdkModel({
        model: model as unknown as LanguageModel,
        request,
        name: id,
        origin: model.provider,
        secrets: [],
        retry: DEFAULT_MODEL_RETRY,
        signal,
      });
    },
  };
}
