import { isIPv6 } from 'node:net';

const SCHEME = /^[a-z][a-z\d+.-]*:/i;
/** What a part of a URI may hold beside escapes. RFC 3986, appendix A. */
const NO_PATH = /[^\w.~!$&'()*+,;=:@/%-]/;
const NO_QUERY = /[^\w.~!$&'()*+,;=:@/?%-]/;
const NO_HOST = /[^\w.~!$&'()*+,;=%-]/;
const NO_USER = /[^\w.~!$&'()*+,;=:%-]/;
const FUTURE_ADDRESS = /^v[\da-f]+\.[\w.~!$&'()*+,;=:-]+$/i;

/** `URI` of RFC 3986: with its scheme. */
export function isUri(text: string): boolean {
  const [scheme] = SCHEME.exec(text) ?? [];
  return scheme !== undefined && isRelative(text.slice(scheme.length));
}

/** `URI-reference` of RFC 3986: with a scheme, or relative. */
export function isUriReference(text: string): boolean {
  const [start = ''] = text.split(/[/?#]/, 1);
  return start.includes(':') ? isUri(text) : isRelative(text);
}

function isRelative(text: string): boolean {
  if (/%(?![\da-f]{2})/i.test(text)) return false;
  const [beforeFragment = '', fragment = ''] = splitOnce(text, '#');
  const [hierarchy = '', query = ''] = splitOnce(beforeFragment, '?');
  if (NO_QUERY.test(fragment) || NO_QUERY.test(query)) return false;
  if (!hierarchy.startsWith('//')) return !NO_PATH.test(hierarchy);
  const [authority = '', path = ''] = splitOnce(hierarchy.slice(2), '/');
  return isAuthority(authority) && !NO_PATH.test(path);
}

function isAuthority(authority: string): boolean {
  const at = authority.lastIndexOf('@');
  const [hostAndPort, user] = [authority.slice(at + 1), authority.slice(0, Math.max(0, at))];
  const [host = ''] = /^(?:\[[^\]]*\]|[^:]*)(?=(?::\d*)?$)/.exec(hostAndPort) ?? ['?'];
  return !NO_USER.test(user) && (host.startsWith('[') ? isAddress(host.slice(1, -1)) : !NO_HOST.test(host));
}

function isAddress(text: string): boolean {
  return (isIPv6(text) && !text.includes('%')) || FUTURE_ADDRESS.test(text);
}

function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
