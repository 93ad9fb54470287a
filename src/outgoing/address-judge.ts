import type { IPv6 } from 'ipaddr.js';
import { allowedPlaces } from './allowed-places.ts';

/** Returns the fault of an address of a host, or undefined. The host is in lower case, as in every parsed URL. */
export type AddressJudge = (address: string, host: string) => string | undefined;

/** Private networks and this machine: an allowed host name may lead to them. */
const PRIVATE: ReadonlySet<string> = new Set(['private', 'uniqueLocal', 'loopback', 'carrierGradeNat']);
/** Azure answers its virtual machines at this address, although its range is public. */
const WIRE_SERVER = '168.63.129.16';

/**
 * Judges addresses by their registered purpose. Addresses that are not public are refused unless `allowPrivate` names them, and so are
 * addresses that contain another address, such as IPv4-mapped addresses, NAT64 and 6to4.
 *
 * @throws SkillcellError `options.invalid` for an invalid entry of `allowPrivate`
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
    // Addresses outside of it may have no range of their own, such as `::7f00:1`, which some systems take for 127.0.0.1.
    return (parsed as IPv6).match(globalUnicast, 3) ? undefined : 'reserved';
  };
}
