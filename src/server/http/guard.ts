import type { FastifyRequest } from 'fastify';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * Passes requests of programs, and of pages of this service. A page of another origin, or one that reaches this address under another host name
 * (DNS rebinding), is refused before its token is looked at.
 *
 * @param allowHosts further names of this service
 * @param isPage whether the page of the console is asked for: it has no data, so that links on other sites may lead to it
 * @throws SkillcellError `auth.host-refused`, `auth.origin-refused`
 */
export function guardRequest(
  { headers, host, protocol }: FastifyRequest,
  { allowHosts, isPage }: { allowHosts: readonly string[]; isPage: boolean },
): void {
  const name = URL.parse(`http://${host}`)?.hostname ?? '';
  if (![...LOOPBACK, ...allowHosts].includes(name)) {
    throw new SkillcellError('auth.host-refused', 'Cannot take the request: its Host is no name of this service.');
  }
  const { origin, 'sec-fetch-site': site, 'sec-fetch-mode': mode } = headers;
  if (isPage && mode === 'navigate') return;
  const isOwn = origin === undefined || origin === `${protocol}://${host}`;
  const isOwnSite = site === undefined || site === 'same-origin' || site === 'none';
  if (isOwn && isOwnSite) return;
  throw new SkillcellError('auth.origin-refused', 'Cannot take the request: it comes from a page of another origin.');
}
