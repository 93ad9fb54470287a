import { KeyObject, randomBytes, webcrypto } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { PublicKeyInfo } from 'pkijs';
import { authorityExtensions, type DemandedExtension, leafExtensions } from './certificate-extensions.ts';
import {
  type DistinguishedName,
  issueCertificate,
  keyIdOf,
  publicKeyInfo,
  type Validity,
} from './issue-certificate.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
/** The clock of a sandbox or of a remote engine may be slow: certificates are valid from a day ago. */
const BEGUN_MS = DAY_MS;
const VALID_MS = 7 * DAY_MS;
/** The longest job, and a day for clocks that are fast. */
const FRESH_MS = 2 * DAY_MS;
/** A context takes about 30 KB. */
const KEPT_CONTEXTS = 256;
/** Clients find the host among the alternative names. A common name holds at most 64 characters, so a long host would need another form. */
const LEAF_SUBJECT: DistinguishedName = { attribute: 'organization', value: 'skillcell' };
const P256 = { name: 'ECDSA', namedCurve: 'P-256' };

/** The parts with which another thread can go on. The private key cannot be exported, only used. */
export interface AuthorityParts {
  pem: string;
  issuer: DistinguishedName;
  issuerKey: webcrypto.CryptoKey;
  keyId: Uint8Array;
  validity: Validity;
}

/** Options of {@link createAuthority}. */
export interface AuthorityOptions {
  /** The authority of a thread that has failed. @default a new one */
  given?: AuthorityParts;
  /** Returns the time, as milliseconds since 1970. @default Date.now */
  now?: () => number;
  /** Parts that are left out, for tests. */
  without?: readonly DemandedExtension[];
}

/** A certificate authority, and the certificates of the hosts for which a proxy stands in. */
export interface Authority {
  /** Its certificate in PEM, for the clients of the proxy. Its private key cannot be exported. */
  readonly pem: string;
  readonly parts: AuthorityParts;
  /**
   * Whether a job that begins now ends before the certificates do. Later jobs need a new authority, while running jobs still use this one.
   */
  isFresh(): boolean;
  /**
   * Returns the TLS context of a host, with a certificate of this authority.
   *
   * @param host a name in lower case and Punycode without a dot at its end, or an address without brackets
   */
  contextFor(host: string): Promise<SecureContext>;
}

/** Creates an authority whose certificates are valid for seven days, begun a day ago. */
export async function createAuthority(options: AuthorityOptions = {}): Promise<Authority> {
  const { now = Date.now, without = [] } = options;
  const parts = options.given ?? (await newParts(now(), without));
  const { issuer, issuerKey, validity, pem } = parts;
  // All leaves share one key. This thread alone uses it, and it could sign a leaf for any host: a key for each leaf would protect no host from
  // a thief of another key.
  const leaf = await createKeys({ isExportable: true });
  const key = KeyObject.from(leaf.privateKey).export({ type: 'pkcs8', format: 'pem' });
  const [keyId, authorityKeyId] = [keyIdOf(leaf.publicKey), parts.keyId];

  const createContext = async (host: string): Promise<SecureContext> => {
    const cert = await issueCertificate({
      subject: LEAF_SUBJECT,
      publicKey: leaf.publicKey,
      extensions: leafExtensions(host, { keyId, authorityKeyId }, without),
      issuer,
      issuerKey,
      validity,
    });
    // An empty list: a server that asks for no certificate needs no authorities.
    return createSecureContext({ cert, key, ca: [] });
  };

  return {
    pem,
    parts,
    isFresh: () => now() <= validity.notAfter - FRESH_MS,
    contextFor: keepLast(KEPT_CONTEXTS, createContext),
  };
}

async function newParts(now: number, without: readonly DemandedExtension[]): Promise<AuthorityParts> {
  const notBefore = now - BEGUN_MS;
  // A leaf never outlives its authority: all certificates share one validity.
  const validity: Validity = { notBefore, notAfter: notBefore + VALID_MS };
  // A name of its own: clients that trust several authorities find the issuer by its name.
  const issuer: DistinguishedName = { attribute: 'commonName', value: `skillcell ${randomBytes(4).toString('hex')}` };
  const { privateKey: issuerKey, publicKey } = await createKeys({ isExportable: false });
  const keyId = keyIdOf(publicKey);
  const extensions = authorityExtensions(keyId, without);
  const pem = await issueCertificate({ subject: issuer, publicKey, extensions, issuer, issuerKey, validity });
  return { pem, issuer, issuerKey, keyId, validity };
}

interface Keys {
  publicKey: PublicKeyInfo;
  privateKey: webcrypto.CryptoKey;
}

async function createKeys({ isExportable }: { isExportable: boolean }): Promise<Keys> {
  const { privateKey, publicKey } = await webcrypto.subtle.generateKey(P256, isExportable, ['sign', 'verify']);
  return { privateKey, publicKey: await publicKeyInfo(publicKey) };
}

/** Keeps the results for the texts that were asked for last. Callers that ask at the same time share one promise; a failure is not kept. */
function keepLast<T>(most: number, make: (text: string) => Promise<T>): (text: string) => Promise<T> {
  const kept = new Map<string, Promise<T>>();
  return async (text) => {
    const found = kept.get(text) ?? make(text);
    kept.delete(text);
    kept.set(text, found);
    const [oldest] = kept.keys();
    if (kept.size > most && oldest !== undefined) kept.delete(oldest);
    try {
      return await found;
    } catch (error) {
      // Another promise may have taken its place by now.
      if (kept.get(text) === found) kept.delete(text);
      throw error;
    }
  };
}
