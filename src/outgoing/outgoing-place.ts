import { outgoingRefused, shownUrl } from './outgoing-refused.ts';

/**
 * The address of a source for messages, the lock file and cache names. It holds no secret.
 *
 * @throws SkillcellError `source.refused` for an address with a credential, a query or a fragment
 */
export function outgoingPlace(text: string): string {
  const url = URL.parse(text);
  if (url === null || url.host === '') throw outgoingRefused('it is not an address', 'a text without a host');
  if (url.search !== '' || url.hash !== '') throw outgoingRefused('it has a query or a fragment', shownUrl(url));
  if (url.username !== '' || url.password !== '')
    throw outgoingRefused('it has a user name or a password in it', shownUrl(url));
  return `${url.origin}${url.pathname.replace(/\/$/, '')}`;
}
