import { anthropicGateway } from './anthropic-gateway.ts';
import type { ModelGateway } from './model-gateway.ts';
import type { ModelProvider, ModelSettings } from './model-settings.ts';
import { openaiCompatibleGateway } from './openai-compatible-gateway.ts';
import type { SdkGatewayOptions } from './sdk-gateway-options.ts';

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
