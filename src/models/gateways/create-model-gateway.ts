import type { ModelGateway } from '../model-gateway.ts';
import type { ModelProvider, ModelSettings } from './model-settings.ts';
import type { SdkGatewayOptions } from './sdk-gateway-options.ts';
import { sdkGateway } from './sdk-gateway.ts';

const GATEWAYS: Record<ModelProvider, typeof openaiCompatibleGateway> = {
  'openai-compatible': openaiCompatibleGateway,
  openai: openaiCompatibleGateway,
  anthropic: anthropicGateway,
};

/**
 * Creates the gateway for the settings from `readModelSettings`.
 *
 * @param settings service, model and key
 * @param options retries
 * @returns the gateway; nothing is loaded or asked yet
 * @example
 * ```ts
 * import { createModelGateway, createOrchestrator } from 'skillcell';
 *
 * const provider = 'openai-compatible';
 * const model = createModelGateway({ provider, model: 'qwen2.5-coder', baseUrl: 'http://127.0.0.1:8080/v1' });
 * console.log(model.id);
 * // prints: openai-compatible/qwen2.5-coder
 * await using orchestrator = createOrchestrator({ model });
 * console.log(typeof orchestrator.codegen);
 * // prints: function
 * ```
 */
export function createModelGateway(settings: ModelSettings, options: SdkGatewayOptions = {}): ModelGateway {
  return GATEWAYS[settings.provider](settings, options);
}

/**
 * A gateway to a service with Anthropic's messages API.
 *
 * @param settings `baseUrl` is the address without `/messages`
 * @param options retries
 * @returns the gateway
 */
function anthropicGateway(settings: ModelSettings, options: SdkGatewayOptions = {}): ModelGateway {
  return sdkGateway(
    settings,
    async ({ model, baseUrl, apiKey }, fetch) => {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      // An absent key would make the SDK read one from the environment.
      return createAnthropic({ baseURL: baseUrl, apiKey: apiKey ?? 'none', fetch })(model);
    },
    options,
  );
}

/**
 * A gateway to any service with OpenAI's chat completions API.
 *
 * @param settings `baseUrl` is the address without `/chat/completions`
 * @param options retries
 * @returns the gateway
 */
export function openaiCompatibleGateway(settings: ModelSettings, options: SdkGatewayOptions = {}): ModelGateway {
  return sdkGateway(
    settings,
    async ({ provider, model, baseUrl, apiKey }, fetch) => {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      return createOpenAICompatible({
        name: provider,
        baseURL: baseUrl,
        fetch,
        ...(apiKey === undefined ? {} : { apiKey }),
      })(model);
    },
    options,
  );
}
