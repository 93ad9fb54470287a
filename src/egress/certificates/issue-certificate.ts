import { hash, randomBytes, webcrypto, X509Certificate } from 'node:crypto';
import { Integer, Utf8String } from 'asn1js';
// Only the network's worker imports this file: pkijs is loaded by no other thread, and the engine that it keeps in a global variable is unused.
import {
  AttributeTypeAndValue,
  Certificate,
  CryptoEngine,
  type Extension,
  PublicKeyInfo,
  RelativeDistinguishedNames,
  Time,
  TimeType,
} from 'pkijs';

const engine = new CryptoEngine({ name: 'node', crypto: webcrypto });

/** The object identifiers of the attributes in our names. */
const ATTRIBUTES = { commonName: '2.5.4.3', organization: '2.5.4.10' } as const;

/** A name of one attribute. */
export interface DistinguishedName {
  attribute: keyof typeof ATTRIBUTES;
  /** At most 64 characters, as X.520 requires. */
  value: string;
}

/** Times as milliseconds since 1970. */
export interface Validity {
  notBefore: number;
  notAfter: number;
}

/** A certificate to be signed. */
export interface CertificateDraft {
  subject: DistinguishedName;
  publicKey: PublicKeyInfo;
  extensions: Extension[];
  issuer: DistinguishedName;
  issuerKey: webcrypto.CryptoKey;
  validity: Validity;
}

/** Signs a certificate of version 3 with ECDSA and SHA-256. @returns the certificate in PEM */
export async function issueCertificate(draft: CertificateDraft): Promise<string> {
  const certificate = new Certificate({
    version: 2,
    serialNumber: new Integer({ valueHex: serialNumber() }),
    issuer: encodedName(draft.issuer),
    notBefore: encodedTime(draft.validity.notBefore),
    notAfter: encodedTime(draft.validity.notAfter),
    subject: encodedName(draft.subject),
    subjectPublicKeyInfo: draft.publicKey,
    extensions: draft.extensions,
  });
  await certificate.sign(draft.issuerKey, 'SHA-256', engine);
  return new X509Certificate(Buffer.from(certificate.toSchema().toBER())).toString();
}

/** Returns a public key in the form of certificates. */
export async function publicKeyInfo(publicKey: webcrypto.CryptoKey): Promise<PublicKeyInfo> {
  return PublicKeyInfo.fromBER(await webcrypto.subtle.exportKey('spki', publicKey));
}

/** The key id of RFC 7093 section 2 method 1: the first 160 bits of the SHA-256 of the public key. */
export function keyIdOf({ subjectPublicKey }: PublicKeyInfo): Uint8Array {
  return hash('sha256', subjectPublicKey.valueBlock.valueHexView, 'buffer').subarray(0, 20);
}

/** 126 random bits in 16 bytes. The first byte is 0x40 to 0x7f, so the number is positive and has no leading zero. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = (bytes.readUInt8() & 0x3f) | 0x40;
  return bytes;
}

function encodedName({ attribute, value }: DistinguishedName): RelativeDistinguishedNames {
  const type = ATTRIBUTES[attribute];
  return new RelativeDistinguishedNames({
    typesAndValues: [new AttributeTypeAndValue({ type, value: new Utf8String({ value }) })],
  });
}

/** RFC 5280 section 4.1.2.5 requires a UTCTime through 2049 and a GeneralizedTime from 2050 on. Neither has fractions of a second. */
function encodedTime(time: number): Time {
  const value = new Date(Math.floor(time / 1_000) * 1_000);
  return new Time({ type: value.getUTCFullYear() < 2050 ? TimeType.UTCTime : TimeType.GeneralizedTime, value });
}
