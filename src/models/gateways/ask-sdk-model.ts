import { APICallError, generateText, type LanguageModel } from 'ai';
import type { ModelAnswer, ModelRequest } from '../model-gateway.ts';
import { type ModelRetryOptions, readRetryAfter, retryModelRequest, type RetryVerdict } from './model-retry.ts';
import { redact } from '../redact.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';

// By default the SDK prints its notes on models and settings as process warnings.
globalThis.AI_SDK_LOG_WARNINGS ??= false;

/** Options of {@link askSdkModel}. */
export interface AskSdkModelOptions {
  model: LanguageModel;
  request: ModelRequest;
  /** `provider/model` of the request. */
  name: string;
  /** Scheme, host and port of the service. */
  origin: string;
  secrets: readonly string[];
  retry: ModelRetryOptions;
  signal: AbortSignal;
}

/** Asks a model through the `ai` SDK, with our own retries. Importing this file loads the SDK, so import it only to ask. */
export async function askSdkModel(options: AskSdkModelOptions): Promise<ModelAnswer> {
  const { model, request, name, origin, secrets, retry, signal } = options;
  const ask = async (): Promise<ModelAnswer> => {
    const { text, usage, finishReason } = await generateText({
      model,
      instructions: request.system,
      messages: request.messages,
      // Our retries limit the wait of Retry-After, and tests can make them fast.
      maxRetries: 0,
      telemetry: { isEnabled: false },
      abortSignal: signal,
      ...(request.maxOutputTokens === undefined ? {} : { maxOutputTokens: request.maxOutputTokens }),
    });
    const { inputTokens, outputTokens } = usage;
    return {
      text: redact(text, secrets),
      usage: { inputTokens: tokens(inputTokens), outputTokens: tokens(outputTokens) },
      model: name,
      finishReason,
    };
  };
  try {
    return await retryModelRequest(ask, judgeModelError, signal, retry);
  } catch (error) {
    signal.throwIfAborted();
    throw describeModelError(error, { id: name, origin, secrets });
  }
}

function tokens(count: number | undefined): number | null {
  return count !== undefined && Number.isSafeInteger(count) && count >= 0 ? count : null;
}

/** Whether another try may help: after rate limits, faults of the service and lost connections. */
export function judgeModelError(error: unknown): RetryVerdict {
  if (!APICallError.isInstance(error)) return { retry: false };
  return { retry: error.isRetryable, retryAfterMs: readRetryAfter(error.responseHeaders) };
}

/**
 * Converts an error of the SDK. The SDK's error is not kept as cause: it holds the whole prompt, the address and the
 * response of the service, which may repeat the key.
 *
 * @param error the error of the last try
 * @param service name and address of the service, and the secrets to remove
 * @returns `model.refused` if only a change of key, name or address helps, else `model.failed`
 */
export function describeModelError(
  error: unknown,
  service: { id: string; origin: string; secrets: readonly string[] },
): SkillcellError {
  const text = error instanceof Error ? error.message : String(error);
  const said = JSON.stringify(redact(text, service.secrets).replace(/\s+/g, ' ').slice(0, 300));
  const asking = `Cannot ask ${service.id} at ${service.origin}`;
  if (!APICallError.isInstance(error))
    return new SkillcellError('model.failed', `${asking}: the request failed with ${said}.`);
  const status = error.statusCode;
  if (status === undefined) return new SkillcellError('model.failed', `${asking}: there is no connection (${said}).`);
  if (status < 300) return new SkillcellError('model.failed', `${asking}: the answer cannot be read (${said}).`);
  const code = error.isRetryable ? 'model.failed' : 'model.refused';
  return new SkillcellError(code, `${asking}: the service answered HTTP ${status} (${said}).`);
}
