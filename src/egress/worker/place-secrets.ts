import type { IncomingMessage } from 'node:http';
import type { NetworkRequest } from '../rules/judge-request.ts';
import type { NetworkGate } from '../rules/network-gate.ts';
import { judgeTarget } from '../rules/judge-request.ts';
import { namesIn } from '../secrets/names-in.ts';
import { swapSecrets } from '../secrets/swap-secrets.ts';
import { pairs, passedHeaders } from './passed-headers.ts';
import type { JobSecret } from './worker-messages.ts';

/** The headers of a request with the values of its secrets. */
export interface PlacedSecrets {
  /** Flat list of names and values. */
  headers: string[];
  /** Names of the secrets that are sent. */
  used: string[];
  /** Names of secrets whose placeholders stand elsewhere. */
  misplaced: string[];
  /** The secrets that go to the host: its answers must not bring them back. */
  washed: JobSecret[];
}

/** An answer that cannot be searched: a part of a body, or an encoded one. */
const UNSEARCHABLE = ['accept-encoding', 'range', 'if-range'];

const HOST_GATES: readonly NetworkGate[] = ['host-not-allowed', 'port-not-allowed'];
const TLS_GATES: readonly NetworkGate[] = ['scheme-not-allowed', 'port-not-allowed'];

/** Replaces the placeholders of secrets in a request, each in its own header and for its own hosts over verified TLS. */
export function placeSecrets(
  request: IncomingMessage,
  target: NetworkRequest,
  secrets: readonly JobSecret[],
  without: readonly NetworkGate[],
): PlacedSecrets {
  const gates = [
    ...(without.includes('secret-hosts') ? HOST_GATES : []),
    ...(without.includes('secret-tls') ? TLS_GATES : []),
  ];
  const washed = secrets.filter(
    ({ hosts }) => judgeTarget({ job: hosts, operator: hosts, without: gates }, target) === undefined,
  );
  const headers = passedHeaders(request.rawHeaders, [
    'host',
    'expect',
    'content-length',
    ...(washed.length > 0 ? UNSEARCHABLE : []),
  ]);
  const length = request.headers['content-length'];
  const used = new Set<string>();
  const misplaced = new Set(namesIn(target.path, secrets));
  const placed = [...pairs(headers)].flatMap(([name, value]) => {
    const own = washed.filter(({ header }) => header === name.toLowerCase() || without.includes('secret-header'));
    const swapped = swapSecrets(value, own);
    swapped.used.forEach((secret) => used.add(secret));
    namesIn(swapped.value, secrets).forEach((secret) => misplaced.add(secret));
    return [name, swapped.value];
  });
  return {
    headers: [
      ...placed,
      ...['host', hostOf(target)],
      ...(length === undefined ? [] : ['content-length', length]),
      ...(washed.length > 0 ? ['accept-encoding', 'identity'] : []),
    ],
    used: [...used],
    misplaced: [...misplaced],
    washed,
  };
}

/** The header as clients write it: without the port of the scheme. */
function hostOf({ host, port, scheme }: NetworkRequest): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return port === (scheme === 'https' ? 443 : 80) ? name : `${name}:${port}`;
}
