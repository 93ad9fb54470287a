import { withoutEnd } from '../../contracts/text/without-end.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import type { ModelProvider, ModelSettings } from './model-settings.ts';
import { parseModelName } from './parse-model-name.ts';

const OPENAI_URL = 'https://api.openai.com/v1';
const ANTHROPIC_URL = 'https://api.anthropic.com/v1';

/** Environment variables. The three `SKILLCELL_MODEL…` variables take precedence over those of a provider. */
export type ModelEnvironment = Readonly<Record<string, string | undefined>>;

/** The provider's own variables for address and key. They are read if the variables of skillcell are not set. */
const FALLBACKS: Record<ModelProvider, { url: string; key: string; defaultUrl?: string }> = {
  'openai-compatible': { url: 'OPENAI_BASE_URL', key: 'OPENAI_API_KEY' },
  openai: { url: 'OPENAI_BASE_URL', key: 'OPENAI_API_KEY', defaultUrl: OPENAI_URL },
  anthropic: { url: 'ANTHROPIC_BASE_URL', key: 'ANTHROPIC_API_KEY', defaultUrl: ANTHROPIC_URL },
};

/**
 * Reads the model to ask from the environment. A provider's own key is only sent to the provider's own address: with
 * `SKILLCELL_MODEL_BASE_URL`, the key is `SKILLCELL_MODEL_API_KEY`, or there is no key.
 *
 * @param model `provider/model` of a flag; it overrides `SKILLCELL_MODEL`
 * @param environment the variables
 * @returns the settings; undefined when no model is named
 * @throws {SkillcellError} `usage.invalid` for a malformed name or address, `model.not-configured` if the address or the
 * key is missing
 * @example
 * ```ts
 * import { createModelGateway, readModelSettings } from 'skillcell';
 *
 * const settings = readModelSettings('openai-compatible/qwen2.5-coder', {
 *   SKILLCELL_MODEL_BASE_URL: 'http://127.0.0.1:8080/v1',
 * });
 * console.log(settings && createModelGateway(settings).id);
 * // prints: openai-compatible/qwen2.5-coder
 * console.log(readModelSettings(undefined, {}));
 * // prints: undefined
 * ```
 */
export function readModelSettings(
  model?: string,
  environment: ModelEnvironment = process.env,
): ModelSettings | undefined {
  const name = model ?? environment['SKILLCELL_MODEL'];
  if (name === undefined || name === '') return undefined;
  const parsed = parseModelName(name, model === undefined ? 'SKILLCELL_MODEL' : '--model');
  const fallback = FALLBACKS[parsed.provider];
  const ownUrl = environment['SKILLCELL_MODEL_BASE_URL'] || undefined;
  const baseUrl = ownUrl ?? (environment[fallback.url] || fallback.defaultUrl);
  if (baseUrl === undefined) {
    throw new SkillcellError(
      'model.not-configured',
      `Cannot ask ${name}: the provider has no default address, and neither SKILLCELL_MODEL_BASE_URL nor ${fallback.url} is set.`,
      { hint: 'Set SKILLCELL_MODEL_BASE_URL, for example http://127.0.0.1:8080/v1.' },
    );
  }
  const variable = ownUrl === undefined ? fallback.url : 'SKILLCELL_MODEL_BASE_URL';
  const ownKey = environment['SKILLCELL_MODEL_API_KEY'] || undefined;
  const apiKey = (ownKey ?? (ownUrl === undefined ? environment[fallback.key] : undefined))?.trim();
  const settings = { ...parsed, baseUrl: checkBaseUrl(baseUrl, variable) };
  if (apiKey !== undefined && apiKey !== '') {
    return { ...settings, apiKey: checkKey(apiKey, ownKey === undefined ? fallback.key : 'SKILLCELL_MODEL_API_KEY') };
  }
  if (baseUrl === fallback.defaultUrl || parsed.provider === 'anthropic') {
    // The provider's own key is not read beside SKILLCELL_MODEL_BASE_URL, so it is no advice there.
    const variables = ['SKILLCELL_MODEL_API_KEY', ...(ownUrl === undefined ? [fallback.key] : [])];
    throw new SkillcellError(
      'model.not-configured',
      `Cannot ask ${name}: the service needs a key, and no key is set in ${variables.join(' or ')}.`,
    );
  }
  return settings;
}

/** The message never repeats the address, because it may hold a password. */
function checkBaseUrl(text: string, variable: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new SkillcellError(
      'usage.invalid',
      `Cannot use ${variable}: it must be an http or https address without user and password.`,
    );
  }
  return withoutEnd(url.href, '/');
}

/** The key becomes an HTTP header. With a control character in it, the request would fail later, with the key in the error. */
function checkKey(key: string, variable: string): string {
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new SkillcellError(
    'usage.invalid',
    `Cannot use ${variable}: a key must consist of printable ASCII characters without blanks.`,
  );
}
