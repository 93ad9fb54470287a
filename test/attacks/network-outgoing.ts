import { type DoorScene, type DoorSceneOptions, verdict } from '../fixtures/egress/door-scene.ts';
import {
  AMBIGUOUS_ADDRESSES,
  CREDENTIALS,
  FOREIGN_ADDRESSES,
  FOREIGN_ADDRESSES_OF_LOOPBACK,
  FOREIGN_PORTS,
  FOREIGN_REDIRECTS,
  HOSTLESS_ADDRESSES,
  LOOPBACK_HOSTS,
  LOOPBACK_IPV6_HOSTS,
  MORE_THAN_HOSTS,
  SPACED_ADDRESSES,
  SPECIAL_HOSTS,
  UNRESOLVED_HOSTS,
} from '../fixtures/outgoing/hostile-addresses.ts';
import { asking, inTls, type NetworkCase, saying } from './network-case.ts';

/** The spellings of this machine that every parser reads in the same way; a tunnel to any other one is refused. */
const PLAIN: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', 'localhost.', 'LOCALHOST']);
/** Those that lead to the upstream if nothing judges them. */
const REACHED_IPV6: ReadonlySet<string> = new Set(['[::1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]']);

const withoutBrackets = (host: string): string => host.replace(/^\[(.*)\]$/, '$1');
const nameOf = (index: number): string => `n${index}.special.test`;

/** Every place is in the rules, and no private address is allowed. */
const CLOSED: DoorSceneOptions = {
  rules: [
    ...['localhost:$https', '127.0.0.1:$https', 'http://localhost:$http', 'http://127.0.0.1:$http'],
    ...['*.special.test', 'mixed.test'],
    ...LOOPBACK_IPV6_HOSTS.map((host) => `${host}:$https`),
    ...SPECIAL_HOSTS.map(([host]) => host),
  ],
  allowPrivate: [],
  lookup: async (host) => addressesOf(host).map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
};

function addressesOf(host: string): string[] {
  if (host === 'mixed.test') return ['8.8.8.8', '10.0.0.7'];
  const special = SPECIAL_HOSTS.find((_, index) => nameOf(index) === host);
  return [special === undefined ? '127.0.0.1' : withoutBrackets(special[0])];
}

/** A name that leads to private addresses is allowed, and leads to cloud metadata. */
const METADATA: DoorSceneOptions = {
  rules: ['metadata.google.internal'],
  allowPrivate: ['metadata.google.internal'],
  lookup: async () => [{ address: '169.254.169.254', family: 4 }],
};

/** The upstream, by its address. */
const BY_ADDRESS: DoorSceneOptions = { rules: ['http://127.0.0.1:$http', '127.0.0.1:$https', 'api.test:$https'] };

/** The job asks for an endpoint that its operator does not have. */
const ENDPOINT: DoorSceneOptions = {
  rules: ['http://127.0.0.1:$http', 'api.test:$https'],
  operator: ['api.test:$https'],
};

/** The addresses are judged at the connection alone. */
const AT_CONNECTION: DoorSceneOptions = {
  rules: ['http://127.0.0.1:$http', 'http://localhost:$http'],
  allowPrivate: [],
  without: ['resolved'],
};

/** Answers of the parser, or of a policy that reads no host in the text. */
const REFUSED =
  /^(400 protocol-refused|403 (protocol-refused|host-not-allowed|target-ambiguous)|421 authority-mismatch)$/;

const inScene = (options: DoorSceneOptions, row: NetworkCase): NetworkCase => ({ ...row, scene: () => options });
const tunnelTo = (target: string): string => `CONNECT ${target} HTTP/1.1\r\n\r\n`;
const request = (target: string): string => `GET ${target} HTTP/1.1\r\nConnection: close\r\n\r\n`;

/** The verdict on an answer, and the number of requests that arrived meanwhile. */
async function counted({ upstream }: DoorScene, answer: () => Promise<string>): Promise<string> {
  const before = upstream.requests.length;
  return `${verdict(await answer())}, ${upstream.requests.length - before} arrived`;
}

/** A host of this machine, in a tunnel and in a request over plain http. */
function ofThisMachine(host: string): NetworkCase[] {
  const title = `this machine as ${host}`;
  if (!PLAIN.has(host))
    return [
      saying('K01', `a tunnel to ${title}`, [], tunnelTo(`${host}:$https`), /^40[03] protocol-refused$/),
      saying('K01', `plain http to ${title}`, [], request(`http://${host}:$http/`), /^40[03] protocol-refused$/),
    ].map((row) => inScene(CLOSED, row));
  const tunnel = asking('K01', `a tunnel to ${title}`, ['resolved', 'connected'], host, {}, '403 address-blocked');
  return [
    // The upstream has no certificate for an address.
    host === '127.0.0.1' ? { ...tunnel, open: '502' } : tunnel,
    saying(
      ...(['K01', `plain http to ${title}`, ['resolved', 'connected']] as const),
      ...([request(`http://${host}:$http/`), '403 address-blocked'] as const),
    ),
  ].map((row) => inScene(CLOSED, row));
}

const redirected = (location: string): NetworkCase => ({
  ...asking('K04', `a redirect to ${location}, which the program itself has to follow`, [], '', {}, '302, 1 arrived'),
  attempt: (door) => counted(door, () => door.ask('api.test', { path: `/to?place=${encodeURIComponent(location)}` })),
});

/** The attacks of group K on requests, from a program. */
export const OUTGOING_CASES: readonly NetworkCase[] = [
  ...LOOPBACK_HOSTS.flatMap(ofThisMachine),
  ...LOOPBACK_IPV6_HOSTS.map((host): NetworkCase => ({
    ...inScene(CLOSED, asking('K01', `this machine as ${host}`, [], host, {}, '403 address-blocked')),
    ...(REACHED_IPV6.has(host) ? { gates: ['resolved', 'connected'], open: '502' } : {}),
  })),
  // None of these has a row without its gate: no packet of a test leaves for them.
  ...SPECIAL_HOSTS.flatMap(([host, range], index) =>
    [
      asking('K02', `${host}, ${range}`, [], `${host}:443`, {}, '403 address-blocked'),
      asking('K02', `a name of ${host}, ${range}`, [], `${nameOf(index)}:443`, {}, '403 address-blocked'),
    ].map((row) => inScene(CLOSED, row)),
  ),
  inScene(
    METADATA,
    asking('K02', 'metadata by a name that is allowed', [], 'metadata.google.internal:443', {}, '403 address-blocked'),
  ),
  inScene(
    CLOSED,
    asking('K03', 'a public address beside a private one', [], 'mixed.test:443', {}, '403 address-blocked'),
  ),
  ...MORE_THAN_HOSTS.map((text) =>
    saying('K03', `a tunnel to ${JSON.stringify(text)}`, [], tunnelTo(`${text}:$https`), /^40[03] protocol-refused$/),
  ),
  ...FOREIGN_REDIRECTS.map(redirected),
  ...['http://127.0.0.3/', 'https://169.254.169.254/'].map(redirected),
  ...[...FOREIGN_ADDRESSES, ...FOREIGN_ADDRESSES_OF_LOOPBACK].flatMap((url) => [
    saying('K05', `a request for ${url}`, [], request(url), REFUSED),
    inTls('K05', `a request for ${url} in a tunnel`, [], request(url), REFUSED),
  ]),
  ...AMBIGUOUS_ADDRESSES.map(([title, of]): NetworkCase => ({
    ...inScene(BY_ADDRESS, saying('K06', `an address with ${title}`, [], '', '')),
    // A request may have several spaces before its target, and leads to the same place.
    blocked: title === 'a leading space' ? '200' : REFUSED,
    attempt: async (door) => verdict(await door.say(request(of(door.upstream.plainPort)))),
  })),
  ...[...HOSTLESS_ADDRESSES, ...SPACED_ADDRESSES].flatMap((url) =>
    [
      saying('K06', `a request for ${JSON.stringify(url)}`, [], request(url), REFUSED),
      inTls('K06', `a request for ${JSON.stringify(url)} in a tunnel`, [], request(url), REFUSED),
    ].map((row) => inScene(BY_ADDRESS, row)),
  ),
  ...CREDENTIALS.map((credential) =>
    inScene(
      BY_ADDRESS,
      saying(
        ...(['K06', `an address with the credential ${credential}`, []] as const),
        ...([request(`http://${credential}@127.0.0.1:$http/`), REFUSED] as const),
      ),
    ),
  ),
  ...FOREIGN_PORTS.map((port): NetworkCase => ({
    ...asking('K06', `the port ${port}`, ['port-not-allowed'], `api.test:${port}`, {}, '403 port-not-allowed'),
    open: '502',
  })),
  {
    ...asking('K07', 'an endless answer', [], 'api.test', { path: '/endless' }, 'ended'),
    scene: () => ({ limits: { bytesIn: 100_000 } }),
    attempt: async (door) =>
      verdict(await door.ask('api.test', { path: '/endless' })) === '200' ? 'ended' : 'refused',
  },
  {
    ...asking(
      'K07',
      'an answer that inflates hugely, which arrives as it was sent',
      [],
      '',
      {},
      'less than 10000 bytes',
    ),
    attempt: async (door) =>
      (await door.ask('api.test', { path: '/zeros' })).length < 10_000 ? 'less than 10000 bytes' : 'inflated',
  },
  inScene(
    ENDPOINT,
    saying(
      ...(['K08', 'an endpoint of the job that the operator does not have', ['operator']] as const),
      ...([request('http://127.0.0.1:$http/'), '403 host-not-allowed'] as const),
    ),
  ),
  ...UNRESOLVED_HOSTS.map((host): NetworkCase => ({
    ...inScene(AT_CONNECTION, saying('K09', `${host}, judged at its connection alone`, [], '', '')),
    gates: PLAIN.has(host) ? ['connected'] : [],
    blocked: PLAIN.has(host) ? '403 address-blocked, 0 arrived' : '403 protocol-refused, 0 arrived',
    open: '200, 1 arrived',
    attempt: (door) => counted(door, () => door.say(request(`http://${host}:${door.upstream.plainPort}/`))),
  })),
];
