import { anthropicGateway } from './anthropic-gateway.ts';
import type { ModelGateway } from './model-gateway.ts';
import type { ModelProvider, ModelSettings } from './model-settings.ts';
import { openaiCompatibleGateway } from './openai-compatible-gateway.ts';
import type { SdkGatewayOptions } from './sdk-gateway.ts';

const GATEWAYS: Record<ModelProvider, typeof openaiCompatibleGateway> = {
  'openai-compatible': openaiCompatibleGateway,
  openai: openaiCompatibleGateway,
  anthropic: anthropicGateway,
};

/**
 * Creates the gateway for the settings that `readModelSettings` found.
 *
 * @param settings service, model and key
 * @param options retries
 * @returns the gateway; nothing is loaded or asked yet
 */
export function createModelGateway(settings: ModelSettings, options: SdkGatewayOptions = {}): ModelGateway {
  return GATEWAYS[settings.provider](settings, options);
}
