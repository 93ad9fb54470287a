import { isIP } from 'node:net';
import { BitString, OctetString } from 'asn1js';
import ipaddr from 'ipaddr.js';
import { AltName, AuthorityKeyIdentifier, BasicConstraints, ExtKeyUsage, Extension, GeneralName } from 'pkijs';

/** Extensions that strict clients demand; the tests leave them out to show that. */
export type DemandedExtension = 'key-ids' | 'usages';

const SERVER_AUTHENTICATION = '1.3.6.1.5.5.7.3.1';
const DIGITAL_SIGNATURE = new BitString({ valueHex: Uint8Array.of(0b1000_0000), unusedBits: 7 });
const SIGNS_CERTIFICATES_AND_LISTS = new BitString({ valueHex: Uint8Array.of(0b0000_0110), unusedBits: 1 });
/** Types of a GeneralName, RFC 5280 section 4.2.1.6. */
const DNS_NAME = 2;
const IP_ADDRESS = 7;

/** An extension of either kind; `demanded` names the group that a test can leave out. */
interface Row {
  id: string;
  critical?: boolean;
  value: { toBER(): ArrayBuffer };
  demanded?: DemandedExtension;
}

/** Extensions of the authority: it signs leaves, and no further authority. */
export function authorityExtensions(keyId: Uint8Array, without: readonly DemandedExtension[]): Extension[] {
  return encoded(without, [
    { id: '2.5.29.19', critical: true, value: new BasicConstraints({ cA: true, pathLenConstraint: 0 }).toSchema() },
    { id: '2.5.29.15', critical: true, value: SIGNS_CERTIFICATES_AND_LISTS, demanded: 'usages' },
    { id: '2.5.29.14', value: new OctetString({ valueHex: keyId }), demanded: 'key-ids' },
  ]);
}

/** Extensions of the certificate of a host. */
export function leafExtensions(
  host: string,
  { keyId, authorityKeyId }: { keyId: Uint8Array; authorityKeyId: Uint8Array },
  without: readonly DemandedExtension[],
): Extension[] {
  const keyIdentifier = new OctetString({ valueHex: authorityKeyId });
  return encoded(without, [
    { id: '2.5.29.19', critical: true, value: new BasicConstraints({ cA: false }).toSchema() },
    { id: '2.5.29.15', critical: true, value: DIGITAL_SIGNATURE, demanded: 'usages' },
    {
      id: '2.5.29.37',
      value: new ExtKeyUsage({ keyPurposes: [SERVER_AUTHENTICATION] }).toSchema(),
      demanded: 'usages',
    },
    { id: '2.5.29.17', value: new AltName({ altNames: [generalName(host)] }).toSchema() },
    { id: '2.5.29.14', value: new OctetString({ valueHex: keyId }), demanded: 'key-ids' },
    { id: '2.5.29.35', value: new AuthorityKeyIdentifier({ keyIdentifier }).toSchema(), demanded: 'key-ids' },
  ]);
}

/** Clients compare a host that is an address with addresses only, and each other host with names only. */
function generalName(host: string): GeneralName {
  if (isIP(host) === 0) return new GeneralName({ type: DNS_NAME, value: host });
  const valueHex = Uint8Array.from(ipaddr.parse(host).toByteArray());
  return new GeneralName({ type: IP_ADDRESS, value: new OctetString({ valueHex }) });
}

function encoded(without: readonly DemandedExtension[], rows: readonly Row[]): Extension[] {
  return rows
    .filter(({ demanded }) => demanded === undefined || !without.includes(demanded))
    .map(({ id, critical = false, value }) => new Extension({ extnID: id, critical, extnValue: value.toBER() }));
}
