import { visibleText } from '../../../contracts/text/quoted-text.ts';
import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';

/** Outcome of a failed request. */
export interface S3Failure {
  /** `moved`: the object has changed. `absent`: it does not exist. `again`: a retry may succeed. `refused`: a retry will not. */
  kind: 'moved' | 'absent' | 'again' | 'refused';
  /** For people; it holds nothing of a signature or key. */
  reason: string;
  /** Advice for the caller. */
  hint?: string | undefined;
}

/** A faulty or missing answer that a retry may mend. */
export class FaultyAnswer extends Error {}

/** Error names of services for temporary failures. */
const PASSING = new Set(['SlowDown', 'ServiceUnavailable', 'RequestTimeTooSkewed', 'RequestTimeout', 'InternalError']);

const CREDENTIALS_HINT =
  'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, to keys that this service knows.';
const REGION_HINT = 'Set AWS_REGION to the region of the bucket.';

/** Advice by the error names of services. */
const HINTS: ReadonlyMap<string, string> = new Map([
  ['CredentialsProviderError', CREDENTIALS_HINT],
  ['InvalidAccessKeyId', CREDENTIALS_HINT],
  ['SignatureDoesNotMatch', CREDENTIALS_HINT],
  ['ExpiredToken', 'Sign in again: these keys are no longer valid.'],
  ['AccessDenied', 'The keys need s3:ListBucket for the prefix and s3:GetObject for the objects below it.'],
  ['NoSuchBucket', 'Compare the name of the bucket, and the endpoint (AWS_ENDPOINT_URL_S3).'],
  ['PermanentRedirect', REGION_HINT],
  ['TemporaryRedirect', REGION_HINT],
  ['AuthorizationHeaderMalformed', REGION_HINT],
]);

/** Reads an error of the client. Its details of the request, which include the signature, are dropped. */
export function failureOf(error: unknown): S3Failure {
  if (error instanceof FaultyAnswer) return { kind: 'again', reason: error.message };
  const { name, code, $metadata } = error as { name?: string; code?: string; $metadata?: { httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode;
  // A message may quote the request; a name is one word.
  const word = visibleText((name ?? 'Error').slice(0, 60));
  const hint = HINTS.get(word);
  if (word === 'CredentialsProviderError') return { kind: 'refused', reason: 'no keys are found', hint };
  if (status === undefined) return { kind: 'again', reason: typeof code === 'string' ? code : word };
  const reason = word === 'Error' || word === 'UnknownError' ? `status ${status}` : `${word}, status ${status}`;
  if (status === 412 || status === 304) return { kind: 'moved', reason };
  if (status === 409) return { kind: 'again', reason };
  if (status === 404 && word !== 'NoSuchBucket') return { kind: 'absent', reason };
  if (status >= 500 || status === 429 || status === 408 || PASSING.has(word)) return { kind: 'again', reason };
  return { kind: 'refused', reason, hint };
}

/** The error for the caller. */
export function unavailable(action: string, address: string, reason: string, hint?: string): SkillcellError {
  const message = `Cannot ${action}: ${reason}, got ${address}.`;
  return new SkillcellError('store.unavailable', message, hint === undefined ? {} : { hint });
}
