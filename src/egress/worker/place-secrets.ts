import type { IncomingMessage } from 'node:http';
import type { NetworkRequest } from '../rules/judge-request.ts';
import type { NetworkGate } from '../rules/network-gate.ts';
import { judgeTarget } from '../rules/judge-request.ts';
import type { HeldSecret } from '../secrets/held-secret.ts';
import { namesIn } from '../secrets/names-in.ts';
import { swapSecrets } from '../secrets/swap-secrets.ts';
import { partsOf } from '../signatures/held-aws-keys.ts';
import { type ReadSignature, readSignature, SIGNATURE_HEADERS } from '../signatures/read-signature.ts';
import { pairs, passedHeaders } from './passed-headers.ts';
import type { EgressJob } from './worker-messages.ts';

/** The headers of a request with the values of its secrets. */
export interface PlacedSecrets {
  /** Flat list of names and values; without the headers of a signature that is made anew. */
  headers: string[];
  /** The signature that names keys for AWS; undefined for other requests. */
  signature: ReadSignature | undefined;
  /** Names of the secrets in the headers. */
  used: string[];
  /** Names of secrets whose placeholders stand elsewhere. */
  misplaced: string[];
  /** The secrets that go to the host: its answers must not bring them back. */
  washed: HeldSecret[];
}

/** An answer that cannot be searched: a part of a body, or an encoded one. */
const UNSEARCHABLE = ['accept-encoding', 'range', 'if-range'];

const HOST_GATES: readonly NetworkGate[] = ['host-not-allowed', 'port-not-allowed'];
const TLS_GATES: readonly NetworkGate[] = ['scheme-not-allowed', 'port-not-allowed'];

/** Replaces the placeholders of secrets in a request, each in its own header and for its own hosts over verified TLS. */
export function placeSecrets(
  request: IncomingMessage,
  target: NetworkRequest,
  { secrets, awsKeys }: Pick<EgressJob, 'secrets' | 'awsKeys'>,
  without: readonly NetworkGate[],
): PlacedSecrets {
  const gates = [
    ...(without.includes('secret-hosts') ? HOST_GATES : []),
    ...(without.includes('secret-tls') ? TLS_GATES : []),
  ];
  const isFor = ({ hosts }: EgressJob['secrets' | 'awsKeys'][number]): boolean =>
    judgeTarget({ job: hosts, operator: hosts, without: gates }, target) === undefined;
  const [fitting, signing] = [secrets.filter(isFor), awsKeys.filter(isFor)];
  const washed = [...fitting, ...signing.flatMap(partsOf)];
  const headers = passedHeaders(request.rawHeaders, [
    'host',
    'expect',
    'content-length',
    ...(washed.length > 0 ? UNSEARCHABLE : []),
  ]);
  const length = request.headers['content-length'];
  const used = new Set<string>();
  const placed = [...pairs(headers)].flatMap(([name, value]) => {
    const own = fitting.filter(({ header }) => header === name.toLowerCase() || without.includes('secret-header'));
    const swapped = swapSecrets(value, own);
    swapped.used.forEach((secret) => used.add(secret));
    return [name, swapped.value];
  });
  const whole = [
    ...placed,
    ...['host', hostHeader(target)],
    ...(length === undefined ? [] : ['content-length', length]),
    ...(washed.length > 0 ? ['accept-encoding', 'identity'] : []),
  ];
  const signature = readSignature({ headers: whole, path: target.path }, signing);
  const sent = signature === undefined ? whole : passedHeaders(whole, SIGNATURE_HEADERS);
  const known = [...secrets, ...awsKeys.flatMap(partsOf)];
  const values = Array.from(pairs(sent), ([, value]) => value);
  return {
    headers: sent,
    signature,
    used: [...used],
    misplaced: [...new Set([target.path, ...values].flatMap((text) => namesIn(text, known)))],
    washed,
  };
}

/** The header as clients write it: without the port of the scheme. */
export function hostHeader({ host, port, scheme }: NetworkRequest): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return port === (scheme === 'https' ? 443 : 80) ? name : `${name}:${port}`;
}
