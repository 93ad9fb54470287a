import type { IPv6 } from 'ipaddr.js';
import { allowedPlaces } from './allowed-places.ts';

/** Says what is wrong with an address that a host has, or nothing. The host is in lower case, as every parser of URLs leaves it. */
export type AddressJudge = (address: string, host: string) => string | undefined;

/** Networks of companies, and this machine: what an allowed host name may lead to. */
const PRIVATE: ReadonlySet<string> = new Set(['private', 'uniqueLocal', 'loopback', 'carrierGradeNat']);
/** What Azure answers machines at, on an address like any other. */
const WIRE_SERVER = '168.63.129.16';

/**
 * Judges addresses by what they are registered for. Everything that is not for the whole network is refused, and with it what carries another
 * address inside, such as IPv4-mapped ones, NAT64 and 6to4.
 *
 * @throws SkillcellError `options.invalid` for an entry that says nothing
 */
export async function createAddressJudge(allowPrivate: readonly string[]): Promise<AddressJudge> {
  const { default: ipaddr } = await import('ipaddr.js');
  const hosts = (await allowedPlaces(allowPrivate)).map(({ host }) => host);
  const globalUnicast = ipaddr.IPv6.parse('2000::');

  return (address, host) => {
    if (!ipaddr.isValid(address)) return 'no address';
    const parsed = ipaddr.parse(address);
    for (const allowed of hosts)
      if (typeof allowed !== 'string' && allowed[0].kind() === parsed.kind() && parsed.match(allowed)) return undefined;
    const range = parsed.range();
    if (PRIVATE.has(range) && hosts.includes(host)) return undefined;
    if (range !== 'unicast') return range;
    if (parsed.kind() === 'ipv4') return address === WIRE_SERVER ? 'metadata' : undefined;
    // Outside of it lies what has no range of its own, such as `::7f00:1`, which some systems take for 127.0.0.1.
    return (parsed as IPv6).match(globalUnicast, 3) ? undefined : 'reserved';
  };
}
