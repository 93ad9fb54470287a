import type { LanguageModel } from 'ai';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { ModelGateway } from '../model-gateway.ts';
import { DEFAULT_MODEL_RETRY } from './model-retry.ts';
import type { ModelSettings } from './model-settings.ts';
import { parseModelName } from './parse-model-name.ts';
import type { SdkGatewayOptions } from './sdk-gateway-options.ts';

/** Makes a model of one provider. */
export type ModelLoader = (settings: ModelSettings, fetch: typeof globalThis.fetch) => Promise<LanguageModel>;

/**
 * A gateway over the `ai` SDK. The first request loads the SDK, so that commands without a model start fast.
 *
 * @param settings service, model and key
 * @param load makes the provider's model
 * @param options retries
 * @returns the gateway
 */
export function sdkGateway(settings: ModelSettings, load: ModelLoader, options: SdkGatewayOptions = {}): ModelGateway {
  const retry = { ...DEFAULT_MODEL_RETRY, ...options.retry };
  return {
    id: `${settings.provider}/${settings.model}`,
    async generate(request, { signal }) {
      signal.throwIfAborted();
      const chosen = request.model === undefined ? settings : { ...settings, model: modelOf(request.model, settings) };
      const [{ askSdkModel }, model] = await Promise.all([
        import('./ask-sdk-model.ts'),
        load(chosen, fetchWithoutRedirects),
      ]);
      return askSdkModel({
        model,
        request,
        name: `${chosen.provider}/${chosen.model}`,
        origin: new URL(settings.baseUrl).origin,
        secrets: settings.apiKey === undefined ? [] : [settings.apiKey],
        retry,
        signal,
      });
    },
  };
}

function modelOf(name: string, settings: ModelSettings): string {
  const { provider, model } = parseModelName(name, 'the model of the job');
  if (provider === settings.provider) return model;
  throw new SkillcellError(
    'model.not-configured',
    `Cannot ask ${name}: the configured provider is ${settings.provider}.`,
  );
}

/** A redirect would carry the key to another host. */
const fetchWithoutRedirects: typeof globalThis.fetch = (input, init) => fetch(input, { ...init, redirect: 'manual' });
