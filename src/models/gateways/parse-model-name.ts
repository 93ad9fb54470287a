import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { MODEL_PROVIDERS, type ModelProvider } from './model-settings.ts';

/**
 * Splits `provider/model`. The model's own name may hold more slashes.
 *
 * @param text for example `anthropic/claude-sonnet-4-5`
 * @param source the flag or variable that the text comes from
 * @returns both parts
 * @throws {SkillcellError} `usage.invalid` for another form or an unknown provider
 */
export function parseModelName(text: string, source: string): { provider: ModelProvider; model: string } {
  const slash = text.indexOf('/');
  const provider = MODEL_PROVIDERS.find((known) => known === text.slice(0, slash));
  const model = text.slice(slash + 1);
  if (slash < 1 || provider === undefined || !/^[\x21-\x7e]{1,150}$/.test(model)) {
    throw new SkillcellError(
      'usage.invalid',
      `Cannot use ${source}: it must be PROVIDER/MODEL with a provider of ${MODEL_PROVIDERS.join(', ')}, ` +
        `got ${JSON.stringify(text.slice(0, 200))}.`,
    );
  }
  return { provider, model };
}
