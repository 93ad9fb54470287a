import type { IPv4, IPv6 } from 'ipaddr.js';
import { quotedText } from '../contracts/text/quoted-text.ts';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';

/** A parsed entry of `allowPrivate`. */
export interface AllowedPlace {
  /** A host name in lower case, or a range of addresses. */
  host: string | [IPv4 | IPv6, number];
  /** The port that it allows besides 443, if it names one. */
  port: number | undefined;
}

const LABEL = /^[a-z0-9_-]{1,63}$/i;
const PORT = /^:\d{1,5}$/;

/**
 * Reads `git.corp.example`, `127.0.0.1:8080`, `10.0.0.0/8`, `fd00::/8` or `[::1]:8080`.
 *
 * @throws SkillcellError `options.invalid`
 */
export async function allowedPlaces(entries: readonly string[]): Promise<AllowedPlace[]> {
  const { default: ipaddr } = await import('ipaddr.js');
  return entries.map((entry) => {
    const [host, behind] = cut(entry);
    const port = PORT.test(behind) ? Number(behind.slice(1)) : undefined;
    if (behind === '' || port !== undefined) {
      if (ipaddr.isValidCIDR(host)) return { host: ipaddr.parseCIDR(host), port };
      if (ipaddr.IPv4.isValidFourPartDecimal(host)) return { host: [ipaddr.parse(host), 32], port };
      if (ipaddr.IPv6.isValid(host)) return { host: [ipaddr.parse(host), 128], port };
      if (host.split('.').every((label) => LABEL.test(label))) return { host: host.toLowerCase(), port };
    }
    throw new SkillcellError(
      'options.invalid',
      `Cannot allow a private host: it is neither a name, an address nor a range, got ${quotedText(entry)}.`,
    );
  });
}

/** Splits an entry into the host and the rest. An IPv6 address has colons itself, and brackets before a port. */
function cut(entry: string): [string, string] {
  const end = entry.startsWith('[') ? entry.indexOf(']') : -1;
  if (end > 0) return [entry.slice(1, end), entry.slice(end + 1)];
  const at = entry.indexOf(':');
  return at < 0 || at !== entry.lastIndexOf(':') ? [entry, ''] : [entry.slice(0, at), entry.slice(at)];
}
