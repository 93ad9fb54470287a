import type { IPv4, IPv6 } from 'ipaddr.js';

/** Says what is wrong with an address that a host has, or nothing. */
export type AddressJudge = (address: string, host: string) => string | undefined;

/** Networks of companies, and this machine: what an allowed host name may lead to. */
const PRIVATE: ReadonlySet<string> = new Set(['private', 'uniqueLocal', 'loopback', 'carrierGradeNat']);
/** What Azure answers machines at, on an address like any other. */
const WIRE_SERVER = '168.63.129.16';

/**
 * Judges addresses by what they are registered for. Everything that is not for the whole network is refused, and with it what carries another
 * address inside, such as IPv4-mapped ones, NAT64 and 6to4.
 */
export async function createAddressJudge(allowPrivate: readonly string[]): Promise<AddressJudge> {
  const { default: ipaddr } = await import('ipaddr.js');
  const ranges = allowPrivate.flatMap((entry) => {
    if (ipaddr.isValidCIDR(entry)) return [ipaddr.parseCIDR(entry)];
    if (!ipaddr.isValid(entry)) return [];
    const address = ipaddr.parse(entry);
    return [[address, address.kind() === 'ipv4' ? 32 : 128] as [IPv4 | IPv6, number]];
  });
  const names = new Set(allowPrivate.map((entry) => entry.toLowerCase()));
  const globalUnicast = ipaddr.IPv6.parse('2000::');

  return (address, host) => {
    if (!ipaddr.isValid(address)) return 'no address';
    const parsed = ipaddr.parse(address);
    if (ranges.some(([from, bits]) => from.kind() === parsed.kind() && parsed.match(from, bits))) return undefined;
    const range = parsed.range();
    if (names.has(host.toLowerCase()) && PRIVATE.has(range)) return undefined;
    if (range !== 'unicast') return range;
    if (parsed.kind() === 'ipv4') return address === WIRE_SERVER ? 'metadata' : undefined;
    // Outside of it lies what has no range of its own, such as `::7f00:1`, which some systems take for 127.0.0.1.
    return (parsed as IPv6).match(globalUnicast, 3) ? undefined : 'reserved';
  };
}
