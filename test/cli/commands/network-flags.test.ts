import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JobResult } from '../../../src/contracts/jobs/result.ts';
import { openNetworkLog } from '../../../src/cli/options/network/network-log.ts';
import type { NetworkRow } from '../../../src/contracts/network/result-network.ts';
import { type ForwardProxy, startForwardProxy } from '../../fixtures/egress/forward-proxy.ts';
import { startUpstream, type Upstream } from '../../fixtures/egress/upstream.ts';
import { requireLevel } from '../../fixtures/levels.ts';
import { startMcpClient } from '../../fixtures/mcp-clients/mcp-client.ts';
import { stdioConnection } from '../../fixtures/mcp-server.ts';
import { programFolder } from '../../fixtures/program-folder.ts';
import { runMain, startMain } from '../../fixtures/run-main.ts';

const folder = programFolder();
const VALUE = 'sk-0123456789abcdef';
const LOCAL = ['--runner', 'local'];
/** Prints the status and text of the answers to requests that carry the placeholder of `API_TOKEN`. */
const ASK = `
const authorization = 'Bearer ' + process.env.API_TOKEN;
for (const url of process.argv.slice(2)) {
  const answer = await fetch(url, { headers: { authorization } });
  console.log(answer.status, answer.headers.get('x-skillcell-denied') ?? (await answer.text()).trim());
}`;

let upstream: Upstream;
let proxy: ForwardProxy;
beforeAll(async () => {
  upstream = await startUpstream();
  proxy = await startForwardProxy(upstream);
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

/** Runs a command line whose requests go to the upstream. */
async function run(
  argv: readonly string[],
  stdin: string | PassThrough = '',
  env: Record<string, string> = {},
): ReturnType<typeof runMain> {
  const network = join(folder.path, 'ca.json');
  writeFileSync(network, JSON.stringify({ allow: [], caFile: upstream.caFile }));
  return await runMain(argv, {
    cwd: folder.path,
    stdin,
    env: { SKILLCELL_UPSTREAM_PROXY: proxy.url, API_TOKEN: VALUE, ...env },
  });
}

const rowsOf = (file: string): NetworkRow[] =>
  readFileSync(join(folder.path, file), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as NetworkRow);

describe('the network of a command line', () => {
  it('gives exec its hosts and secrets, and says shortly what was denied', async (context) => {
    requireLevel(context, 'namespace');
    folder.write('ask.mjs', ASK);
    const argv = [
      ...['exec', 'ask.mjs', ...LOCAL, '--network', 'ca.json', '--network-log', 'rows.jsonl'],
      ...['--allow-host', 'GET api.test/v1/**', '--secret', 'API_TOKEN=api.test'],
      ...['--arg', 'https://api.test/v1/a', '--arg', 'https://nope.test/', '--arg', 'https://nope.test/'],
    ];
    const { code, stdout, stderr } = await run(argv);
    expect([code, stdout]).toEqual([0, '200 GET /v1/a\n403 host-not-allowed\n403 host-not-allowed\n']);
    expect(stderr).toContain('\nnetwork: denied 2 × GET https://nope.test/ (host-not-allowed)\n');
    expect(proxy.targets).toContain('api.test:443');
    expect(upstream.requests.at(-1)?.headers.authorization).toBe(`Bearer ${VALUE}`);
    expect(statSync(join(folder.path, 'rows.jsonl')).mode & 0o777).toBe(0o600);
    expect(rowsOf('rows.jsonl').map(({ host, status, reason, secrets }) => [host, status, reason, secrets])).toEqual([
      ['api.test', 200, undefined, ['API_TOKEN']],
      ['nope.test', 403, 'host-not-allowed', []],
      ['nope.test', 403, 'host-not-allowed', []],
    ]);

    const again = await run([...argv, '--json']);
    expect(again.stderr).not.toContain('network');
    const { network } = JSON.parse(again.stdout) as JobResult;
    expect(network).toMatchObject({ requests: 1, secrets: ['API_TOKEN'], denied: [{ host: 'nope.test', count: 2 }] });
    expect(rowsOf('rows.jsonl')).toHaveLength(6);
  });

  it('is the whole file of --network, with paths that start at its folder', async (context) => {
    requireLevel(context, 'namespace');
    mkdirSync(join(folder.path, 'conf'), { recursive: true });
    writeFileSync(join(folder.path, 'conf/ca.pem'), readFileSync(upstream.caFile));
    writeFileSync(join(folder.path, 'conf/token'), `${VALUE}\n`);
    folder.write(
      'conf/network.json',
      JSON.stringify({
        allow: ['api.test'],
        caFile: 'ca.pem',
        secrets: {
          one: { file: 'token', hosts: ['api.test'], header: 'X-One', variable: 'ONE' },
          API_TOKEN: { env: 'API_TOKEN', hosts: ['api.test'] },
        },
      }),
    );
    const code = `
const headers = { 'x-one': process.env.ONE, authorization: process.env.API_TOKEN };
for (const host of ['api.test', 'more.test']) console.log((await fetch('https://' + host + '/', { headers })).status);`;
    const argv = ['exec', '-', '--language', 'javascript', ...LOCAL, '--network', 'conf/network.json'];
    expect(await run([...argv, '--allow-host', 'more.test'], code)).toMatchObject({ code: 0, stdout: '200\n200\n' });
    const [api, more] = upstream.requests.slice(-2);
    expect(api?.headers).toMatchObject({ 'x-one': VALUE, authorization: VALUE });
    expect(JSON.stringify(more?.headers)).not.toContain(VALUE);
  });

  it('is that of a script of a skill, and of a session', async (context) => {
    requireLevel(context, 'namespace');
    mkdirSync(join(folder.path, 'skills/net/scripts'), { recursive: true });
    folder.write('skills/net/SKILL.md', '---\nname: net\ndescription: Asks.\n---\nAsk.\n');
    folder.write('skills/net/scripts/ask.mjs', ASK);
    folder.write('bundle.json', JSON.stringify({ custom_skills_root: 'skills' }));
    const flags = [...LOCAL, '--network', 'ca.json', '--allow-host', 'api.test', '--secret', 'API_TOKEN=api.test'];
    const script = ['skills', 'run', 'custom.net', 'scripts/ask.mjs', '--descriptor', 'bundle.json', ...flags];
    expect(await run([...script, '--', 'https://api.test/s'])).toMatchObject({ code: 0, stdout: '200 GET /s\n' });
    const cells = "(await fetch('https://api.test/r')).status\n(await fetch('https://nope.test/')).status\n";
    const repl = await run(['repl', ...flags], cells);
    expect([repl.code, repl.stdout]).toEqual([0, '200\n403\n']);
    expect(repl.stderr).toContain('network: denied 1 × GET https://nope.test/ (host-not-allowed)\n');
  });

  it('is that of all clients of a server, and no call widens it', async (context) => {
    requireLevel(context, 'namespace');
    await using client = startMcpClient('v2');
    writeFileSync(join(folder.path, 'ca.json'), JSON.stringify({ allow: ['api.test'], caFile: upstream.caFile }));
    const flags = [...LOCAL, '--network', join(folder.path, 'ca.json'), '--secret', 'API_TOKEN=api.test'];
    await client.connect(stdioConnection(flags, { SKILLCELL_UPSTREAM_PROXY: proxy.url, API_TOKEN: VALUE }));
    const code = ASK.replace('process.argv.slice(2)', "['https://api.test/m', 'https://nope.test/']");
    const job = await client.run('run_code', { code });
    const stdout = { text: '200 GET /m\n403 host-not-allowed\n' };
    expect(job.structuredContent).toMatchObject({ stdout, network: { denied: [{ host: 'nope.test' }] } });
    expect(upstream.requests.at(-1)?.headers.authorization).toBe(`Bearer ${VALUE}`);
    const { structuredContent } = await client.run('open_session', {});
    const { session } = structuredContent as { session: string };
    expect((await client.run('run_code', { session, code })).structuredContent).toMatchObject({ stdout });
    const wider = await client.run('run_code', { code, network: ['nope.test'] });
    expect(wider).toMatchObject({ isError: true });
  });

  it('is named by the instructions of a server', async () => {
    const initialize = {
      ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
    };
    const instructions = async (flags: string[]): Promise<string> => {
      const [stdin, stdout] = [new PassThrough(), new PassThrough()];
      const serving = startMain(['mcp', ...flags], { stdin, stdout, env: { API_TOKEN: VALUE } });
      stdin.write(`${JSON.stringify(initialize)}\n`);
      const [line] = (await once(stdout, 'data')) as [Buffer];
      stdin.end();
      await serving.done;
      return (JSON.parse(String(line)) as { result: { instructions: string } }).result.instructions;
    };
    const plain = await instructions([]);
    expect(plain).toMatch(/^Runs code in isolated sandboxes without network\. run_code runs /);
    const flags = ['--allow-host', 'GET api.test', '--secret', 'API_TOKEN=api.test'];
    expect(await instructions(flags)).toBe(
      plain.replace(
        'Runs code in isolated sandboxes without network.',
        'Runs code in isolated sandboxes whose network is open to these places alone: `GET https://api.test`. ' +
          'The environment variable `API_TOKEN` holds a placeholder: send it in the header `authorization` to `https://api.test`; the host puts the value in. ' +
          'A denied request is answered with an error status and the header `x-skillcell-denied`, which names the reason; trying it again does not help. ' +
          'Nothing can be installed.',
      ),
    );
    const refused = await run(['mcp', '--isolation', 'none', ...flags], new PassThrough());
    expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining('level none') });
  });

  it('is told to the model of codegen', async (context) => {
    requireLevel(context, 'namespace');
    const argv = ['codegen', 'Ask.', '--dry-run', '--runner', 'local', '--network', 'ca.json'];
    const { code, stdout } = await run([...argv, '--allow-host', 'GET api.test', '--secret', 'API_TOKEN=api.test']);
    expect(code).toBe(0);
    expect(stdout).toContain('these places alone, over HTTP and HTTPS: `GET https://api.test`.');
    expect(stdout).toContain('`API_TOKEN` holds a placeholder');
    expect(stdout).not.toContain(VALUE);
  });

  it('reaches private hosts only by SKILLCELL_ALLOW_PRIVATE', async (context) => {
    requireLevel(context, 'namespace');
    const server = createServer((_request, response) => response.end('inside'));
    // Programs reach 127.0.0.1 directly: it is the loopback interface of their sandbox.
    server.listen(0, '127.0.0.2');
    await once(server, 'listening');
    const place = `http://127.0.0.2:${(server.address() as AddressInfo).port}`;
    const code = `const answer = await fetch('${place}/'); console.log(answer.status, answer.headers.get('x-skillcell-denied'));`;
    const argv = ['exec', '-', '--language', 'javascript', ...LOCAL, '--allow-host', place];
    const env = { SKILLCELL_UPSTREAM_PROXY: '' };
    try {
      expect(await run(argv, code, env)).toMatchObject({ stdout: '403 address-blocked\n' });
      const allowed = { ...env, SKILLCELL_ALLOW_PRIVATE: '127.0.0.0/8' };
      expect(await run(argv, code, allowed)).toMatchObject({ stdout: '200 null\n' });
    } finally {
      server.close();
    }
  });
});

describe('flags of the network', () => {
  const exec = ['exec', '-', '--language', 'javascript', ...LOCAL];
  it.for<[string, string[], string]>([
    ['a secret without a host', ['--secret', 'API_TOKEN=api.test'], '--secret: no host is allowed'],
    ['a log without a host', ['--network-log', 'x.jsonl'], '--network-log: no host is allowed'],
    ['a file that allows nothing', ['--network', 'ca.json'], '--network: no host is allowed'],
    ['a wrong rule', ['--allow-host', 'exa mple'], 'Cannot use the network rule'],
    ['a value in place of hosts', ['--allow-host', 'a.test', '--secret', VALUE], 'got another text of 19'],
    ['a variable that is not set', ['--allow-host', 'a.test', '--secret', 'NONE=a.test'], 'got "NONE"'],
    [
      'a secret twice',
      ['--allow-host', 'a.test', '--secret', 'API_TOKEN=a.test', '--secret', 'API_TOKEN=b.test'],
      'named once',
    ],
    ['a log in no folder', ['--allow-host', 'a.test', '--network-log', 'none/x.jsonl'], '(ENOENT), got "none/x.jsonl"'],
    ['a log that is no file', ['--allow-host', 'a.test', '--network-log', '/dev/null'], 'no regular file'],
  ])('refuse %s', async ([, flags, message]) => {
    const { code, stderr } = await run([...exec, ...flags], 'console.log(1)');
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(stderr).not.toContain(VALUE);
  });

  it.for<[string, unknown, string]>([
    ['a misspelt field', { allow: [], alow: [] }, 'Cannot use --network "network.json": there is no field alow'],
    ['no object', [], 'the file must be an object'],
    ['private hosts', { allow: ['a.test'], allowPrivate: ['10.0.0.0/8'] }, 'SKILLCELL_ALLOW_PRIVATE'],
    [
      'a value under a wrong name',
      { allow: ['a.test'], secrets: { T: { vaule: VALUE, hosts: ['a.test'] } } },
      'secrets.T',
    ],
    ['a value as a variable', { allow: ['a.test'], secrets: { T: { env: VALUE, hosts: ['a.test'] } } }, 'secrets.T'],
    ['a value as a secret', { allow: ['a.test'], secrets: { T: VALUE } }, 'secrets.T'],
    [
      'a key of AWS under a wrong name',
      { allow: ['a.test'], secrets: { T: { aws: { accessKeyID: VALUE, secretAccessKey: VALUE }, hosts: ['a.test'] } } },
      'secrets.T',
    ],
  ])('refuse a file with %s', async ([, content, message]) => {
    folder.write('network.json', JSON.stringify(content));
    const { code, stdout } = await run([...exec, '--network', 'network.json', '--json'], 'console.log(1)');
    expect(code).toBe(2);
    expect((JSON.parse(stdout) as { error: unknown }).error).toMatchObject({
      code: 'options.invalid',
      message: expect.stringContaining(message),
    });
    expect(stdout).toContain('network.json');
    expect(stdout).not.toContain(VALUE);
  });

  it.for<[string, object]>([
    ['a value', { value: VALUE }],
    ['a key of AWS', { aws: { accessKeyId: 'AKIAEXAMPLE', secretAccessKey: VALUE } }],
  ])('refuse a file with %s that others can read', async ([, secret]) => {
    folder.write(
      'network.json',
      JSON.stringify({ allow: ['a.test'], secrets: { T: { ...secret, hosts: ['a.test'] } } }),
    );
    chmodSync(join(folder.path, 'network.json'), 0o644);
    const argv = [...exec, '--network', 'network.json'];
    expect(await run(argv, '1')).toMatchObject({ code: 2, stderr: expect.stringContaining('others may read it') });
  });

  it.for<[string, Record<string, string>, string[], number, string]>([
    ['a proxy that is no URL', { SKILLCELL_UPSTREAM_PROXY: `x:${VALUE}@y` }, [], 2, 'SKILLCELL_UPSTREAM_PROXY'],
    ['a private host in a wrong form', { SKILLCELL_ALLOW_PRIVATE: 'a b' }, [], 2, 'got "a b"'],
    ['a short value', { API_TOKEN: 'short' }, ['--secret', 'API_TOKEN=a.test'], 3, 'fewer than 8 bytes'],
    ['level none', {}, ['--isolation', 'none'], 3, 'level none'],
  ])('refuse %s before the code is read', async ([, env, flags, expected, message]) => {
    const endless = new PassThrough();
    const { code, stderr } = await run([...exec, '--allow-host', 'a.test', ...flags], endless, env);
    expect([code, stderr]).toEqual([expected, expect.stringContaining(message)]);
    expect(stderr).not.toContain(VALUE);
  });
});

describe('openNetworkLog()', () => {
  it('throws for each row that it cannot write, and says so once', () => {
    const notes: string[] = [];
    const output = { note: async (line: string) => void notes.push(line) };
    const log = openNetworkLog('rows.jsonl', { io: { cwd: () => folder.path }, output });
    const row = { jobId: 'a', host: 'api.test' } as NetworkRow;
    log.write(row);
    log.close();
    for (const again of [row, row]) expect(() => log.write(again)).toThrow('EBADF');
    expect(rowsOf('rows.jsonl')).toEqual([row]);
    expect(notes).toEqual([expect.stringContaining('no further request is made')]);
  });
});
