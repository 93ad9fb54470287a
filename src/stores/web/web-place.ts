import { outgoingRefused, shownUrl } from '../../outgoing/outgoing-refused.ts';

const WELL_KNOWN = /\/\.well-known\/(?:agent-)?skills(?:\/(?:index\.json)?)?$/;

/**
 * Where a web site has its skills: what stands before `/.well-known/`, without a slash at its end.
 *
 * @throws SkillcellError `source.refused`
 */
export function webPlace(text: string): string {
  const url = URL.parse(text);
  if (url === null || url.host === '') throw outgoingRefused('it is no address', 'a text without a host');
  // A query may hold a secret, and the address stands in messages, in the lock and in names of the cache.
  if (url.search !== '' || url.hash !== '') throw outgoingRefused('it has a query or a fragment', shownUrl(url));
  if (url.username !== '' || url.password !== '')
    throw outgoingRefused('it has a user name or a password in it', shownUrl(url));
  return `${url.origin}${url.pathname.replace(WELL_KNOWN, '').replace(/\/$/, '')}`;
}
