import { canonicalPath, type QueryParameter, readQuery } from './canonical-target.ts';
import type { HeldAwsKeys } from './held-aws-keys.ts';

/** A request as it goes to its host, but for its signature. */
export interface UnsignedRequest {
  /** Flat list of names and values in latin1, as in `rawHeaders` of Node. */
  headers: readonly string[];
  /** Path and query. */
  path: string;
}

/** All that a new signature needs, besides the body of some requests. */
export interface SigningTask {
  keys: HeldAwsKeys;
  region: string;
  service: string;
  /** Headers that the signature covers, as UTF-8, by their names in lower case. */
  covered: Record<string, string>;
  /** The client's date; undefined for that of the signing. */
  date: Date | undefined;
  path: string;
  query: Record<string, string[]>;
  /** Whether the body must be hashed: the client gives no hash. */
  needsBody: boolean;
}

/** The signature of a request that names the placeholder of keys; `unsupported` says why none can take its place. */
export type ReadSignature = { task: SigningTask } | { unsupported: string };

/** Headers that belong to a signature. A new signature brings its own. */
export const SIGNATURE_HEADERS: readonly string[] = ['authorization', 'x-amz-security-token', 'x-amz-date'];

const HASH = 'x-amz-content-sha256';
const DATE = 'x-amz-date';
const NO_CHUNK_SIGNATURES: ReadonlySet<string> = new Set(['UNSIGNED-PAYLOAD', 'STREAMING-UNSIGNED-PAYLOAD-TRAILER']);
/** Parameters that name a key in a URL, of versions 4 and 2. */
const NAMING: ReadonlySet<string> = new Set(['x-amz-credential', 'awsaccesskeyid']);
/** Headers that a signature does not cover as the client sent them. The library replaces a date of either kind by `x-amz-date`. */
const REPLACED: ReadonlySet<string> = new Set([...SIGNATURE_HEADERS, 'date']);
const SIGNING: ReadonlySet<string> = new Set([...NAMING, 'x-amz-algorithm', 'x-amz-signature']);
const SCOPE = /^\/\d{8}\/([\w.-]{1,64})\/([\w.-]{1,64})\/aws4_request$/;

/**
 * Reads the signature of a request that may name the placeholder of keys (AWS Signature Version 4, "Create a signed AWS API request"). The
 * client's signature is not compared with the placeholder of the secret key: all that run in a sandbox know both, so it proves nothing. It is
 * read for its region, its service and its headers only.
 *
 * @param held keys that the host gets
 * @returns undefined for a request that no such placeholder signs
 */
export function readSignature(request: UnsignedRequest, held: readonly HeldAwsKeys[]): ReadSignature | undefined {
  const headers = headersByName(request.headers);
  const [path, query] = splitAt(request.path, '?');
  const parameters = readQuery(query);
  const inQuery = held.some((keys) => parameters.some((parameter) => isNaming(parameter, keys)));
  if (inQuery) return { unsupported: 'a presigned URL' };
  const authorization = headers.get('authorization')?.[0] ?? '';
  const keys = held.find(({ accessKeyId }) => authorization.includes(accessKeyId.placeholder));
  if (keys === undefined || !/^AWS/i.test(authorization)) return undefined;
  const [scheme, fields] = splitAt(authorization, ' ');
  if (scheme !== 'AWS4-HMAC-SHA256') return { unsupported: `a signature of the kind ${scheme}` };
  const credentials = readFields(fields, keys);
  if (credentials === undefined) return { unsupported: 'a signature without its parts' };
  if (parameters.some(([name]) => SIGNING.has(name?.toLowerCase() ?? '')))
    return { unsupported: 'a second signature in the query' };

  const [hash] = headers.get(HASH) ?? [];
  if (hash !== undefined && !/^[0-9a-f]{64}$/.test(hash) && !NO_CHUNK_SIGNATURES.has(hash))
    return { unsupported: hash.startsWith('STREAMING-') ? 'signatures of chunks' : `an unknown ${HASH}` };
  const [given] = headers.get(DATE) ?? [];
  const date = given === undefined ? undefined : readDate(given);
  if (given !== undefined && date === undefined) return { unsupported: `an unknown ${DATE}` };
  const signed = [...credentials.signed, 'host', HASH].filter((name) => headers.has(name) && !REPLACED.has(name));
  const covered = Object.fromEntries(signed.map((name) => [name, utf8(headers.get(name)?.join(',') ?? '')]));
  const canonical = canonicalPath(path, credentials.service);
  if (canonical === undefined || parameters.flat().includes(undefined) || Object.values(covered).includes(undefined))
    return { unsupported: 'text that is not UTF-8' };
  const { region, service } = credentials;
  return {
    task: {
      ...{ keys, region, service, date },
      covered: covered as Record<string, string>,
      path: canonical,
      query: gathered(parameters),
      needsBody: hash === undefined,
    },
  };
}

/** Reads `Credential=ID/DATE/REGION/SERVICE/aws4_request, SignedHeaders=NAME;NAME, Signature=HEX`. */
function readFields(
  text: string,
  { accessKeyId }: HeldAwsKeys,
): { region: string; service: string; signed: string[] } | undefined {
  const fields = new Map(text.split(',').map((part) => splitAt(part.trim(), '=')));
  const credential = fields.get('Credential') ?? '';
  const signed = fields.get('SignedHeaders') ?? '';
  if (!credential.startsWith(accessKeyId.placeholder) || signed === '' || !fields.has('Signature')) return undefined;
  const [, region, service] = SCOPE.exec(credential.slice(accessKeyId.placeholder.length)) ?? [];
  if (region === undefined || service === undefined) return undefined;
  return { region, service, signed: signed.toLowerCase().split(';') };
}

function isNaming([name, value]: QueryParameter, { accessKeyId }: HeldAwsKeys): boolean {
  return NAMING.has(name?.toLowerCase() ?? '') && value?.includes(accessKeyId.placeholder) === true;
}

/** Values of each header, in their order. */
function headersByName(flat: readonly string[]): Map<string, string[]> {
  const headers = new Map<string, string[]>();
  for (let index = 0; index + 1 < flat.length; index += 2) {
    const name = (flat[index] ?? '').toLowerCase();
    headers.set(name, [...(headers.get(name) ?? []), (flat[index + 1] ?? '').trim()]);
  }
  return headers;
}

/** Reads a date such as 20150830T123600Z. */
function readDate(text: string): Date | undefined {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text) ?? [];
  const date = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  // A day that no month has becomes one of the next month.
  const isSame = !Number.isNaN(date.getTime()) && date.toISOString().replaceAll(/[-:]|\.000/g, '') === text;
  return isSame ? date : undefined;
}

/** The bytes of a header as text: a server hashes the bytes, and the library the UTF-8 of a text. */
function utf8(latin1: string): string | undefined {
  const bytes = Buffer.from(latin1, 'latin1');
  const text = bytes.toString('utf8');
  return Buffer.from(text).equals(bytes) ? text : undefined;
}

function gathered(parameters: readonly QueryParameter[]): Record<string, string[]> {
  const values = new Map<string, string[]>();
  for (const [name = '', value = ''] of parameters) values.set(name, [...(values.get(name) ?? []), value]);
  return Object.fromEntries(values);
}

function splitAt(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}
