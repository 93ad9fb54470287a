import { isIPv4, isIPv6 } from 'node:net';

/** Characters that end the host of a URL, or that the URL parser drops or decodes. */
const FOREIGN = /[\s\p{Cc}/\\?#@%:]/u;
const LABEL = /^[a-z0-9_-]{1,63}$/;
const LONGEST_NAME = 253;

/**
 * The normal form of a host: as the WHATWG URL parser writes it, without a dot at its end and without brackets.
 *
 * @param text a name in any case, also in Unicode; an IPv4 address; an IPv6 address in brackets
 * @returns undefined if the text is not a host, or is another spelling of an IPv4 address: `2130706433`, `0x7f.1` and `127.1` are
 *   127.0.0.1 for some parsers, and names for others
 */
export function canonicalHost(text: string): string | undefined {
  if (text.startsWith('[')) {
    const inner = text.endsWith(']') ? text.slice(1, -1) : '';
    return isIPv6(inner) ? parsed(text)?.slice(1, -1) : undefined;
  }
  const host = FOREIGN.test(text) ? undefined : parsed(text);
  if (host === undefined || isIPv4(host)) return host === text ? host : undefined;
  const name = host.endsWith('.') ? host.slice(0, -1) : host;
  return name.length <= LONGEST_NAME && name.split('.').every((label) => LABEL.test(label)) ? name : undefined;
}

/** A canonical host as a URL writes it: IPv6 in brackets. */
export function hostText(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}

function parsed(host: string): string | undefined {
  return URL.parse(`https://${host}/`)?.hostname;
}
