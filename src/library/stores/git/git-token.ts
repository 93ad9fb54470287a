import { SkillcellError } from '../../../contracts/errors/skillcell-error.ts';
import { withinDeadline } from '../../../protocol/within-deadline.ts';
import type { GitAddress } from './git-address.ts';

/** A token for reading a repository, or a function that returns one for each read. */
export type GitToken = string | (() => string | Promise<string>);

/** The header that git sends, and its only target. */
export interface GitAuthorization {
  /** Scheme, host and port: `https://git.example.test`. */
  origin: string;
  /** An HTTP header. */
  header: string;
  /** Secrets that no message may hold. */
  secrets: readonly string[];
}

/** Hosts accept any user name, or this one, beside a token. */
const USER = 'x-access-token';
const CHARACTERS = 4_096;

/**
 * Refuses an invalid token, and a token for a connection without encryption.
 *
 * @throws SkillcellError `source.refused`, `options.invalid`; neither holds the token
 */
export function checkGitToken(token: unknown, { protocol, url }: GitAddress): void {
  if (token === undefined) return;
  if (protocol !== 'https')
    throw new SkillcellError('source.refused', `Cannot read the repository: a token goes over https only, got ${url}.`);
  if (typeof token !== 'function') assertUsable(token);
}

/** The authorization of a request to a repository; undefined without a token. @throws SkillcellError `options.invalid`, `store.unavailable` */
export async function gitAuthorization(
  { url }: GitAddress,
  token: GitToken | undefined,
  signal: AbortSignal | undefined,
): Promise<GitAuthorization | undefined> {
  if (token === undefined) return undefined;
  const given = typeof token === 'string' ? token : await askFor(token, url, signal);
  assertUsable(given);
  const encoded = Buffer.from(`${USER}:${given}`).toString('base64');
  return { origin: new URL(url).origin, header: `Authorization: Basic ${encoded}`, secrets: [given, encoded] };
}

async function askFor(token: Exclude<GitToken, string>, url: string, signal: AbortSignal | undefined): Promise<string> {
  try {
    return await withinDeadline((async () => await token())(), { signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw new SkillcellError('store.unavailable', `Cannot read the repository ${url}: there is no token for it.`, {
      cause: error,
    });
  }
}

function assertUsable(token: unknown): asserts token is string {
  if (typeof token === 'string' && token.length > 0 && token.length <= CHARACTERS && !/[\p{Cc}\p{Cs}]/u.test(token))
    return;
  const got = typeof token === 'string' ? `a text of ${token.length} characters` : `a ${typeof token}`;
  throw new SkillcellError(
    'options.invalid',
    `Cannot open the store: token must be a text of 1 to ${CHARACTERS} characters without control characters, got ${got}.`,
  );
}
