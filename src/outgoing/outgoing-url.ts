import { isIP } from 'node:net';
import { allowedPlaces } from './allowed-places.ts';
import { outgoingRefused, shownUrl } from './outgoing-refused.ts';
import type { OutgoingRules } from './outgoing-rules.ts';

/** Characters that a parser may drop, or take for a slash: two parsers may then find two different hosts. */
const CONFUSING = /[\s\p{Cc}\\]/u;
const WITH_HOST = /^[a-z][a-z0-9+.-]{0,30}:\/\/[^/?#]/i;

/**
 * Parses an untrusted address. By default, only https to port 443 without a credential is allowed; plain http is allowed for the hosts and
 * addresses in `allowPrivate`.
 *
 * @param base base of a relative address
 * @throws SkillcellError `source.refused`; its message has no credential and no query
 */
export async function outgoingUrl(
  text: string,
  { allowPrivate = [], ports = [], without = [] }: OutgoingRules,
  base?: URL,
): Promise<URL> {
  const url = URL.parse(text, base?.href);
  if (url === null)
    throw outgoingRefused('it is not an address', base === undefined ? 'a text without a host' : 'another text');
  const isConfusing = CONFUSING.test(text) || (base === undefined && !WITH_HOST.test(text));
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const opened = await openedPorts(host, allowPrivate);
  if (url.protocol !== 'https:' && !without.includes('scheme')) {
    if (url.protocol !== 'http:' || opened === undefined) throw outgoingRefused('only https is allowed', url.protocol);
  }
  if (isConfusing && !without.includes('form'))
    throw outgoingRefused('it has a space, a control character or a backslash, or no host', shownUrl(url));
  if ((url.username !== '' || url.password !== '') && !without.includes('credentials'))
    throw outgoingRefused('it has a user name or a password in it', shownUrl(url));
  const isOpen = url.port === '' || [...ports, ...(opened ?? [])].includes(Number(url.port));
  if (!isOpen && !without.includes('port')) throw outgoingRefused('its port is not allowed', shownUrl(url));
  return url;
}

/** Ports that `allowPrivate` names for a host; undefined if it does not allow the host. */
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
