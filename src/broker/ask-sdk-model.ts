import { generateText, type LanguageModel } from 'ai';
import { describeModelError, judgeModelError } from './model-error.ts';
import type { ModelAnswer, ModelRequest } from './model-gateway.ts';
import { retryModelRequest, type ModelRetryOptions } from './model-retry.ts';
import { redact } from './redact.ts';

// The SDK prints its notes on models and settings as process warnings unless told otherwise.
globalThis.AI_SDK_LOG_WARNINGS ??= false;

/** Options of {@link askSdkModel}. */
export interface AskSdkModelOptions {
  model: LanguageModel;
  request: ModelRequest;
  /** `provider/model` that is asked. */
  name: string;
  /** Scheme, host and port of the service. */
  origin: string;
  secrets: readonly string[];
  retry: ModelRetryOptions;
  signal: AbortSignal;
}

/** Asks a model through the `ai` SDK, with our own retries. This file loads the SDK: import it only to ask. */
export async function askSdkModel(options: AskSdkModelOptions): Promise<ModelAnswer> {
  const { model, request, name, origin, secrets, retry, signal } = options;
  const ask = async (): Promise<ModelAnswer> => {
    const { text, usage, finishReason } = await generateText({
      model,
      instructions: request.system,
      messages: request.messages,
      // Our retries cap what Retry-After may ask for, and can be told to be fast.
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
