import { APICallError } from 'ai';
import { SkillcellError } from '../contracts/skillcell-error.ts';
import { readRetryAfter, type RetryVerdict } from './model-retry.ts';
import { redact } from './redact.ts';

/** Whether another try may help: rate limits, faults of the service and lost connections. */
export function judgeModelError(error: unknown): RetryVerdict {
  if (!APICallError.isInstance(error)) return { retry: false };
  return { retry: error.isRetryable, retryAfterMs: readRetryAfter(error.responseHeaders) };
}

/**
 * Makes an error of the SDK one of ours. The SDK's own error is not kept as cause: it holds the whole prompt, the
 * address and what the service sent back, which may repeat the key.
 *
 * @param error what the last try threw
 * @param service whom the request went to, and what may not be repeated
 * @returns `model.refused` where only a change of key, name or address helps, else `model.failed`
 */
export function describeModelError(
  error: unknown,
  service: { id: string; origin: string; secrets: readonly string[] },
): SkillcellError {
  const text = error instanceof Error ? error.message : String(error);
  const said = JSON.stringify(redact(text, service.secrets).replace(/\s+/g, ' ').slice(0, 300));
  const asking = `Cannot ask ${service.id} at ${service.origin}`;
  if (!APICallError.isInstance(error)) return new SkillcellError('model.failed', `${asking}: got ${said}.`);
  const status = error.statusCode;
  if (status === undefined) return new SkillcellError('model.failed', `${asking}: no connection, got ${said}.`);
  if (status < 300) return new SkillcellError('model.failed', `${asking}: the answer cannot be read, got ${said}.`);
  const code = error.isRetryable ? 'model.failed' : 'model.refused';
  return new SkillcellError(code, `${asking}: the service answered HTTP ${status}, got ${said}.`);
}
