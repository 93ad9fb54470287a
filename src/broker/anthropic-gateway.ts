import type { ModelGateway } from './model-gateway.ts';
import type { ModelSettings } from './model-settings.ts';
import { sdkGateway } from './sdk-gateway.ts';
import type { SdkGatewayOptions } from './sdk-gateway-options.ts';

/**
 * A gateway to a service that speaks Anthropic's messages.
 *
 * @param settings `baseUrl` is what stands before `/messages`
 * @param options retries
 * @returns the gateway
 */
export function anthropicGateway(settings: ModelSettings, options: SdkGatewayOptions = {}): ModelGateway {
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
