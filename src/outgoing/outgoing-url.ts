import { isIP } from 'node:net';
import { createAddressJudge } from './address-judge.ts';
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
  if (url.protocol !== 'https:' && !without.includes('scheme')) {
    const isAllowed = url.protocol === 'http:' && (await isAllowedHost(url.hostname, allowPrivate));
    if (!isAllowed) throw outgoingRefused('only https is asked', url.protocol);
  }
  if (isConfusing && !without.includes('form'))
    throw outgoingRefused('it has a blank, a control character or a backslash, or no host', shownUrl(url));
  if ((url.username !== '' || url.password !== '') && !without.includes('credentials'))
    throw outgoingRefused('it has a user name or a password in it', shownUrl(url));
  if (url.port !== '' && !ports.includes(Number(url.port)) && !without.includes('port'))
    throw outgoingRefused('it has a port that is not asked', shownUrl(url));
  return url;
}

async function isAllowedHost(hostname: string, allowPrivate: readonly string[]): Promise<boolean> {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) === 0) return allowPrivate.some((entry) => entry.toLowerCase() === host);
  const judge = await createAddressJudge(allowPrivate);
  // One for everybody has no fault, and is asked by https all the same.
  const judgeAlone = await createAddressJudge([]);
  return judge(host, host) === undefined && judgeAlone(host, host) !== undefined;
}
