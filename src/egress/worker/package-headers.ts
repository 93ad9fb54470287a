import type { IncomingMessage } from 'node:http';
import type { RegistryPlace } from '../packages/package-registry.ts';
import type { NetworkRequest } from '../rules/judge-request.ts';
import type { HeldSecret } from '../secrets/held-secret.ts';
import { pairs, passedHeaders } from './passed-headers.ts';
import { hostHeader } from './place-secrets.ts';

/** The headers by which installers read packages. Others would carry data of the job, and credentials are the host's own. */
const PASSED: ReadonlySet<string> = new Set(['accept', 'user-agent', 'if-none-match', 'if-modified-since']);
/** An answer that cannot be searched: a part of a body, or an encoded one. */
const UNSEARCHABLE: ReadonlySet<string> = new Set(['accept-encoding', 'range', 'if-range']);

/** The headers of a request to a registry: its own credentials are added here, and go nowhere else. */
export function packageHeaders(
  request: IncomingMessage,
  target: NetworkRequest,
  { credentials }: RegistryPlace,
): { headers: string[]; washed: readonly HeldSecret[] } {
  const given = [...pairs(passedHeaders(request.rawHeaders))].filter(([name]) => {
    const header = name.toLowerCase();
    return PASSED.has(header) || (credentials === undefined && UNSEARCHABLE.has(header));
  });
  const own =
    credentials === undefined ? [] : ['authorization', credentials.authorization, 'accept-encoding', 'identity'];
  return { headers: [...given.flat(), 'host', hostHeader(target), ...own], washed: credentials?.washed ?? [] };
}
