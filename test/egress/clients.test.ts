import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, type TestContext } from 'vitest';
import type { JobResult } from '../../src/contracts/jobs/result.ts';
import { createOrchestrator } from '../../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../../src/jobs/orchestrator.ts';
import { networkRunners, requireNetworkLevel, ALL_NETWORK_LEVELS } from '../fixtures/egress/network-levels.ts';
import { startUpstream, type Upstream } from '../fixtures/egress/upstream.ts';
import { MISSING_GIT, requireHere } from '../fixtures/describe-with.ts';
import { makeRepository } from '../fixtures/git-repository.ts';

const SECRET = 'sk-live-0123456789abcdef';
let upstream: Upstream;
let orchestrator: Orchestrator;
let repository: string;

beforeAll(async () => {
  repository = await mkdtemp(join(tmpdir(), 'repository-'));
  if (MISSING_GIT === undefined) {
    const { commit, git } = makeRepository(repository);
    commit({ 'README.md': 'hello\n' });
    git(['update-server-info']);
  }
  upstream = await startUpstream({ answer: (request, response) => void answer(request, response) });
  const port = upstream.port;
  orchestrator = createOrchestrator({
    runners: await networkRunners(),
    network: {
      ...upstream.network([
        `api.test:${port}`,
        `http://plain.test:${upstream.plainPort}`,
        `GET git.test:${port}/open/**`,
      ]),
      secrets: { TOKEN: { value: SECRET, hosts: [`api.test:${port}`] } },
    },
  });
}, 300_000);
afterAll(async () => {
  await orchestrator?.close();
  await upstream?.[Symbol.asyncDispose]();
  await rm(repository, { recursive: true, force: true });
});

/** A page that tells the request, and a git repository over plain files. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname } = new URL(request.url ?? '', 'http://a');
  if (pathname.startsWith('/open/')) {
    const file = await readFile(join(repository, '.git', pathname.slice('/open/'.length))).catch(() => undefined);
    response.statusCode = file === undefined ? 404 : 200;
    return void response.end(file);
  }
  const { text = '' } = request as { text?: string };
  response.end(`${request.method} ${pathname} ${text} ${request.headers.authorization}`);
}

/** Programs that request an address, each with its way to name it, a method and a body. */
const CLIENTS: readonly (readonly [string, 'python' | 'javascript' | 'bash', (url: string) => string, string?])[] = [
  [
    'urllib',
    'python',
    (url) => `import os, urllib.request, urllib.error
request = urllib.request.Request("${url}", b"body", {"authorization": "Bearer " + os.environ.get("TOKEN", "")}, method="POST")
try:
    print(urllib.request.urlopen(request).read().decode())
except urllib.error.HTTPError as error:
    print(error.code, error.reason, error.headers["x-skillcell-denied"], error.read().decode())`,
  ],
  [
    'requests',
    'python',
    (url) => `import os, requests
answer = requests.post("${url}", "body", headers={"authorization": "Bearer " + os.environ.get("TOKEN", "")})
print(answer.status_code, answer.reason, answer.headers.get("x-skillcell-denied"), answer.text)`,
    '/usr/lib/python3/dist-packages/requests',
  ],
  [
    'fetch',
    'javascript',
    (url) => `const authorization = 'Bearer ' + process.env.TOKEN;
const answer = await fetch('${url}', { method: 'POST', body: 'body', headers: { authorization } });
console.log(answer.status, answer.statusText, answer.headers.get('x-skillcell-denied'), await answer.text());`,
  ],
  [
    'http',
    'javascript',
    (url) => `import http from 'node:http';
import https from 'node:https';
const { request } = '${url}'.startsWith('https') ? https : http;
const headers = { authorization: 'Bearer ' + process.env.TOKEN };
const asked = request('${url}', { method: 'POST', headers }, async (answer) => {
  console.log(answer.statusCode, answer.statusMessage, answer.headers['x-skillcell-denied'], (await answer.toArray()).join(''));
});
asked.end('body');`,
  ],
  [
    'fetch of a worker thread',
    'javascript',
    (url) => `import { Worker } from 'node:worker_threads';
const code = \`fetch('${url}', { method: 'POST', body: 'body', headers: { authorization: 'Bearer ' + process.env.TOKEN } })
  .then(async (answer) => console.log(answer.status, answer.statusText, answer.headers.get('x-skillcell-denied'), await answer.text()))\`;
new Worker(code, { eval: true });`,
  ],
  [
    'fetch of a child process',
    'javascript',
    (url) => `import { execFileSync } from 'node:child_process';
const code = \`fetch('${url}', { method: 'POST', body: 'body', headers: { authorization: 'Bearer ' + process.env.TOKEN } })
  .then(async (answer) => console.log(answer.status, answer.statusText, answer.headers.get('x-skillcell-denied'), await answer.text()))\`;
console.log(execFileSync(process.execPath, ['-e', code], { encoding: 'utf8' }));`,
  ],
  ['curl', 'bash', (url) => `curl -sS -i -d body -H "authorization: Bearer $TOKEN" '${url}'`, '/usr/bin/curl'],
];

describe.each(ALL_NETWORK_LEVELS)('at level %s', (isolation) => {
  const run = async (
    context: TestContext,
    language: 'python' | 'javascript' | 'bash',
    code: string,
    needed?: string,
  ): Promise<JobResult> => {
    requireNetworkLevel(context, isolation);
    requireHere(context, needed === undefined || existsSync(needed) ? undefined : needed);
    const network = [
      `api.test:${upstream.port}`,
      `http://plain.test:${upstream.plainPort}`,
      `git.test:${upstream.port}`,
    ];
    return await orchestrator.exec({
      ...{ language, code, network },
      isolation,
      secrets: ['TOKEN'],
    });
  };

  test.for(CLIENTS)(
    '%s reaches an allowed host, with a credential that it never sees',
    async ([, language, program, needed], context) => {
      const result = await run(context, language, program(`https://api.test:${upstream.port}/v1`), needed);
      expect(result.stderr.text).toBe('');
      expect(result.stdout.text).toMatch(/POST \/v1 body Bearer sk-/);
      expect(upstream.requests.at(-1)?.headers.authorization).toBe(`Bearer ${SECRET}`);
      expect(JSON.stringify(result)).not.toContain(SECRET);
      expect(result.network).toMatchObject({ requests: 1, secrets: ['TOKEN'], denied: [] });
    },
  );

  test.for(CLIENTS)('%s reads why a host is denied', async ([, language, program, needed], context) => {
    const result = await run(context, language, program('https://closed.test/v1'), needed);
    expect(result.stdout.text).toContain('403');
    expect(result.stdout.text).toContain('host-not-allowed');
    expect(result.stdout.text).toContain(`This job may use: https://api.test:${upstream.port}`);
    expect(result.network?.denied).toMatchObject([{ reason: 'host-not-allowed', host: 'closed.test', count: 1 }]);
  });

  test.for(CLIENTS)('%s reaches plain http without the credential', async ([, language, program, needed], context) => {
    const result = await run(context, language, program(`http://plain.test:${upstream.plainPort}/v1`), needed);
    expect(result.stdout.text).toMatch(/POST \/v1 body Bearer sk-/);
    expect(upstream.requests.at(-1)?.headers.authorization).not.toContain(SECRET);
    expect(result.network).toMatchObject({ requests: 1, secrets: [] });
  });

  test('git clones over https, and prints why another repository is denied', async (context) => {
    const at = `https://git.test:${upstream.port}`;
    const code = `git clone -q ${at}/open copy && cat copy/README.md; git clone -q ${at}/closed other`;
    const result = await run(context, 'bash', code, '/usr/bin/git');
    expect(result.stdout.text).toBe('hello\n');
    expect(result.stderr.text).toContain('remote: skillcell: path-not-allowed');
  });

  test('more requests at once than connections take turns, and wait for no idle one', async (context) => {
    requireNetworkLevel(context, isolation);
    const address = `https://api.test:${upstream.port}/v1`;
    const code = `const ask = async () => await (await fetch('${address}')).text();
console.log((await Promise.all(Array.from({ length: 12 }, ask))).length);`;
    const limits = { networkConnections: 4, runTimeoutMs: 30_000 };
    const result = await orchestrator.exec({ code, isolation, network: [`api.test:${upstream.port}`], limits });
    expect(result.stdout.text).toBe('12\n');
    expect(result.network).toMatchObject({ requests: 12, denied: [] });
  });

  test("a program's own servers are reached directly", async (context) => {
    const code = `import http from 'node:http';
const server = http.createServer((request, response) => response.end('own')).listen(0, '127.0.0.1', async () => {
  for (const host of ['127.0.0.1', 'localhost']) console.log(await (await fetch('http://' + host + ':' + server.address().port)).text());
  server.close();
});`;
    const result = await run(context, 'javascript', code);
    expect(result.stdout.text).toBe('own\nown\n');
    expect(result.network).toMatchObject({ requests: 0, denied: [] });
  });
});
