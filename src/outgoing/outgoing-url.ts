import { isIP } from 'node:net';
import { allowedPlaces } from './allowed-places.ts';
import { outgoingRefused, shownUrl } from './outgoing-refused.ts';
import type { OutgoingRules } from './outgoing-rules.ts';

/** Characters that a parser drops, or takes for a slash: two parsers of such a text may end at two hosts. */
const CONFUSING = /[\s\p{Cc}\\]/u;
const WITH_HOST = /^[a-z][a-z0-9+.-]{0,30}:\/\/[^/?#]/i;

/**
 * Parses an address that somebody wrote. By itself that is https to port 443, without a credential; plain http goes to what the rules allow by
 * its name or address.
 *
 * @param base of a relative one
 * @throws SkillcellError `source.refused`; its message has no credential and no query
 */
export async function outgoingUrl(
  text: string,
  { allowPrivate = [], ports = [], without = [] }: OutgoingRules,
  base?: URL,
): Promise<URL> {
  const url = URL.parse(text, base?.href);
  if (url === null) throw outgoingRefused('it is no address', base === undefined ? 'a text without a host' : 'another');
  const isConfusing = CONFUSING.test(text) || (base === undefined && !WITH_HOST.test(text));
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const opened = await openedPorts(host, allowPrivate);
  if (url.protocol !== 'https:' && !without.includes('scheme')) {
    if (url.protocol !== 'http:' || opened === undefined) throw outgoingRefused('only https is asked', url.protocol);
  }
  if (isConfusing && !without.includes('form'))
    throw outgoingRefused('it has a blank, a control character or a backslash, or no host', shownUrl(url));
  if ((url.username !== '' || url.password !== '') && !without.includes('credentials'))
    throw outgoingRefused('it has a user name or a password in it', shownUrl(url));
  const isOpen = url.port === '' || [...ports, ...(opened ?? [])].includes(Number(url.port));
  if (!isOpen && !without.includes('port')) throw outgoingRefused('it has a port that is not asked', shownUrl(url));
  return url;
}

/** Ports that are named for a host; undefined for one that is not allowed by its name or address. */
async function openedPorts(host: string, allowPrivate: readonly string[]): Promise<number[] | undefined> {
  if (allowPrivate.length === 0) return undefined;
  const { default: ipaddr } = await import('ipaddr.js');
  const address = isIP(host) === 0 ? undefined : ipaddr.parse(host);
  const places = (await allowedPlaces(allowPrivate)).filter(({ host: allowed }) =>
    typeof allowed === 'string'
      ? allowed === host
      : address !== undefined && address.kind() === allowed[0].kind() && address.match(allowed),
  );
  return places.length === 0 ? undefined : places.flatMap(({ port }) => port ?? []);
}
