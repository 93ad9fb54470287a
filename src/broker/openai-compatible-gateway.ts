import type { ModelGateway } from './model-gateway.ts';
import type { ModelSettings } from './model-settings.ts';
import { sdkGateway } from './sdk-gateway.ts';
import type { SdkGatewayOptions } from './sdk-gateway-options.ts';

/**
 * A gateway to any service that speaks OpenAI's chat completions.
 *
 * @param settings `baseUrl` is what stands before `/chat/completions`
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
