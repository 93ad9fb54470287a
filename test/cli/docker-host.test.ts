import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ownContainers } from '../fixtures/own-containers.ts';
import { dockerImage, dockerTest } from '../fixtures/docker-image.ts';
import { openTcpEngine } from '../fixtures/tcp-engine.ts';
import { type CliRun, runCli } from '../fixtures/spawn-cli.ts';
import { startQuietClock } from '../fixtures/quiet-clock.ts';

/** The longest time for an error. */
const SOON_MS = 10_000;

let folder: string;
const servers: Server[] = [];
const sockets = new Set<Socket>();

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'skillcell-docker-host-'));
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  rmSync(folder, { recursive: true });
});

/** Listens at a possible address of an engine. */
async function listen(server: Server, at: { path: string } | { port: 0; host: string }): Promise<string> {
  servers.push(server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => undefined))));
  await new Promise<void>((resolve) => server.listen(at, resolve));
  return 'path' in at ? `unix://${at.path}` : `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

interface Failure {
  code: string;
  message: string;
  hint: string;
}

async function timed(
  argv: readonly string[],
  host: string,
  env: Record<string, string> = {},
): Promise<CliRun & { ms: number }> {
  const elapsedMs = startQuietClock();
  const run = await runCli(argv, { stdin: '1', env: { DOCKER_HOST: host, ...env } });
  return { ...run, ms: elapsedMs() };
}

/** Runs a job at an unusable address, and returns the one error. */
async function refused(host: string, env: Record<string, string> = {}): Promise<Failure> {
  const { code, stdout, ms } = await timed(['exec', '-', '--runner', 'docker', '--json'], host, env);
  expect(code).toBe(3);
  expect(ms).toBeLessThan(SOON_MS);
  return (JSON.parse(stdout) as { error: Failure }).error;
}

describe('DOCKER_HOST', () => {
  it.each([
    ['unix://', 'its socket is not an absolute path, got unix://'],
    ['unix://run/docker.sock', 'its socket is not an absolute path, got unix://run/docker.sock'],
    ['unix:///nowhere/docker.sock', 'the socket does not exist, got /nowhere/docker.sock'],
    ['/var/run/docker.sock', 'its address has none of the forms'],
    ['localhost:2375', 'its address has none of the forms'],
    ['ssh://user@example.test', 'its address has none of the forms'],
    ['npipe:////./pipe/docker_engine', 'its address has none of the forms'],
    ['ftp://127.0.0.1', 'its address has none of the forms'],
    ['tcp://', 'its address is not HOST:PORT alone'],
    ['tcp://127.0.0.1:99999', 'its address is not HOST:PORT alone'],
    ['tcp://127.0.0.1:0', 'its port is not valid'],
    ['http://127.0.0.1:2375/v1.41', 'its address is not HOST:PORT alone'],
  ])('%s is refused with a message of its own', async (host, reason) => {
    expect(await refused(host)).toMatchObject({
      code: 'engine.unavailable',
      message: expect.stringContaining(`Cannot reach the Docker engine: ${reason}`) as string,
      hint: expect.stringContaining('set DOCKER_HOST') as string,
    });
  });

  it('a password in it is not repeated', async () => {
    const { code, message } = await refused('http://user:hunter2@127.0.0.1:2375');
    expect(code).toBe('engine.unavailable');
    expect(message).not.toContain('hunter2');
  });

  it.each([
    ['tcp://127.0.0.1:1', 'ECONNREFUSED'],
    ['http://127.0.0.1:1', 'ECONNREFUSED'],
    ['tcp://[::1]:1', '::1'],
    ['http://engine.invalid:2375', 'engine.invalid'],
  ])('%s without a listener is one error', async (host, reason) => {
    expect(await refused(host)).toMatchObject({
      code: 'engine.unavailable',
      message: expect.stringContaining(reason) as string,
    });
  });

  it('a file that is no socket is one error', async () => {
    const path = join(folder, 'plain');
    writeFileSync(path, 'text');
    expect(await refused(`unix://${path}`)).toMatchObject({ code: 'engine.unavailable' });
  });

  it('missing certificates are one error', async () => {
    const failure = await refused('tcp://127.0.0.1:1', { DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: folder });
    expect(failure).toMatchObject({
      code: 'engine.unavailable',
      message: expect.stringContaining('DOCKER_CERT_PATH lacks one of ca.pem, cert.pem and key.pem') as string,
    });
  });

  it('a server of another protocol is one error', async () => {
    const host = await listen(
      createServer((socket) => socket.end('220 mail ready\r\n')),
      { port: 0, host: '127.0.0.1' },
    );
    expect(await refused(host)).toMatchObject({ code: 'engine.unavailable' });
  });

  it.each([
    [404, 'not here', 'engine.unavailable'],
    [403, 'Forbidden', 'engine.unavailable'],
    [200, '<html>a web page</html>', 'runner.isolation-unmet'],
    [200, '{}', 'runner.isolation-unmet'],
  ])('a web server that answers %i %s is one error', async (status, body, code) => {
    const server = createHttpServer((_request, response) => response.writeHead(status).end(body));
    expect(await refused(await listen(server, { port: 0, host: '127.0.0.1' }))).toMatchObject({ code });
  });
});

describe('a Docker context', () => {
  /** A folder as `docker context create` and `docker context use` leave it. */
  function contexts(host: string, more: { name?: string; skip?: boolean; current?: string; ca?: string } = {}): string {
    const { name = 'far', skip = false, current = name, ca } = more;
    const config = mkdtempSync(join(folder, 'config-'));
    const id = createHash('sha256').update(name).digest('hex');
    const meta = { Name: name, Metadata: {}, Endpoints: { docker: { Host: host, SkipTLSVerify: skip } } };
    const files = {
      'config.json': JSON.stringify({ auths: {}, currentContext: current }),
      [`contexts/meta/${id}/meta.json`]: JSON.stringify(meta),
      ...(ca === undefined ? {} : { [`contexts/tls/${id}/docker/ca.pem`]: ca }),
    };
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(config, path)), { recursive: true });
      writeFileSync(join(config, path), text);
    }
    return config;
  }

  it.each([
    ['unix:///nowhere/far.sock', {}, 'the socket does not exist, got /nowhere/far.sock of the Docker context "far"'],
    ['ssh://user:hunter2@far.invalid', {}, 'the Docker context "far" leads over ssh, which is not supported'],
    ['tcp://127.0.0.1:1', { skip: true }, 'the Docker context "far" leaves the certificate of its engine unchecked'],
    ['tcp://127.0.0.1:1', {}, 'ECONNREFUSED'],
    ['tcp://127.0.0.1:1', { current: 'gone' }, 'the Docker context "gone" does not exist'],
    ['/run/far.sock', {}, 'the Docker context "far" names no engine that can be reached: its address has none'],
  ] as const)('to %s %j is followed, or named in the error', async (host, more, reason) => {
    const { message } = await refused('', { DOCKER_CONFIG: contexts(host, more) });
    expect(message).toContain(reason);
    expect(message).not.toContain('hunter2');
  });

  it('comes from DOCKER_CONTEXT before the file, and is ignored if DOCKER_HOST names an engine', async () => {
    const env = { DOCKER_CONFIG: contexts('unix:///nowhere/far.sock', { current: 'gone' }), DOCKER_CONTEXT: 'far' };
    expect((await refused('', env)).message).toContain('/nowhere/far.sock');
    expect((await refused('unix:///nowhere/near.sock', env)).message).toContain('got /nowhere/near.sock.');
  });

  it('with certificates is reached over TLS', async () => {
    let first: Buffer | undefined;
    const host = await listen(
      createServer((socket) => socket.once('data', (data) => void ((first = data), socket.destroy()))),
      { port: 0, host: '127.0.0.1' },
    );
    await refused('', { DOCKER_CONFIG: contexts(host, { ca: '' }) });
    // 22 is the type of a handshake record.
    expect(first?.[0]).toBe(22);
  });

  it('that cannot be followed is the reason why a runner is passed over, and the finding of doctor', async () => {
    const env = { DOCKER_CONFIG: contexts('ssh://far.invalid') };
    const reason = 'the Docker context "far" leads over ssh, which is not supported';
    expect((await timed(['exec', '-'], '', env)).stderr).toContain(reason);
    const { checks } = JSON.parse((await timed(['doctor', '--json'], '', env)).stdout) as { checks: { id: string }[] };
    expect(checks.find(({ id }) => id === 'docker')).toMatchObject({
      ok: false,
      found: expect.stringContaining(reason) as string,
      advice: expect.stringContaining('docker context use default') as string,
    });
  });

  dockerTest('runs jobs on its engine', {}, async () => {
    await dockerImage();
    await using engine = await openTcpEngine();
    const env = { DOCKER_CONFIG: contexts(engine.host) };
    const run = await timed(['exec', '-', '--runner', 'docker', '--json'], '', env);
    expect(JSON.parse(run.stdout)).toMatchObject({ outcome: 'succeeded', isolation: 'container' });
    expect((await timed(['doctor'], '', env)).stdout).toContain('Docker context "far"');
  });
});

describe('an engine that accepts and never answers', () => {
  const commands: [string, string[], number][] = [
    ['exec', ['exec', '-', '--runner', 'docker', '--json'], 3],
    ['image build', ['image', 'build', '--json'], 3],
  ];

  it.each(commands)('%s over a socket ends in time', async (name, argv, expected) => {
    const host = await listen(createServer(), { path: join(folder, `${name.replace(' ', '-')}.sock`) });
    const { code, stdout, ms } = await timed(argv, host);
    expect(code).toBe(expected);
    expect(ms).toBeLessThan(SOON_MS);
    expect(JSON.parse(stdout)).toMatchObject({
      error: { code: 'engine.unavailable', message: expect.stringContaining('no answer within 8 s') as string },
    });
  });

  it.each(commands)('%s over TCP ends in time', async (_name, argv, expected) => {
    const host = await listen(createServer(), { port: 0, host: '127.0.0.1' });
    const { code, ms } = await timed(argv, host);
    expect(code).toBe(expected);
    expect(ms).toBeLessThan(SOON_MS);
  });

  it('auto gives up after 2 s, says so in its one line, and goes on with the next runner', async () => {
    const host = await listen(createServer(), { path: join(folder, 'auto.sock') });
    const job = ['exec', '-', '--isolation', 'none', '--json'];
    expect((await timed(job, host)).stderr).toBe('runner local, isolation none\n');
    const { code, stdout, stderr } = await timed(['exec', '-', '--json'], host);
    const reason = 'Cannot ask the engine: the Docker engine does not answer (no answer within 2 s).';
    if (code === 3) {
      expect((JSON.parse(stdout) as { error: Failure }).error.message).toContain(reason);
      return;
    }
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: `runner local, isolation namespace; runner docker was not taken: ${reason}\n`,
    });
    expect(JSON.parse(stdout)).toMatchObject({
      runner: 'local',
      diagnostics: expect.arrayContaining([
        { code: 'runner.passed-over', severity: 'info', message: `runner docker was not taken: ${reason}` },
      ]) as unknown,
    });
    // The reason is printed once.
    expect((await timed(['exec', '-'], host)).stderr.split(reason)).toHaveLength(2);
  });

  it('a sweep ends with 3', async () => {
    const host = await listen(createServer(), { path: join(folder, 'sweep.sock') });
    expect(await timed(['sweep', '--json'], host)).toMatchObject({ code: 3 });
  });

  it('doctor reports it, with advice', async () => {
    const host = await listen(createServer(), { path: join(folder, 'doctor.sock') });
    const { code, stdout, ms } = await timed(['doctor', '--json'], host);
    expect(ms).toBeLessThan(SOON_MS);
    const { best, checks } = JSON.parse(stdout) as {
      best: string | null;
      checks: { id: string; ok: boolean; found: string; advice?: string }[];
    };
    expect(code).toBe(best === null ? 1 : 0);
    expect(checks.find(({ id }) => id === 'docker')).toMatchObject({
      ok: false,
      found: expect.stringContaining('no answer within 8 s') as string,
      advice: expect.stringContaining('Start the Docker engine') as string,
    });
  });
});

it('doctor prints an address so that it forges no line and acts on no terminal', async () => {
  const { stdout } = await timed(['doctor'], 'unix:///x\u001b[2J\nReady: y');
  expect(stdout).not.toContain('\u001b');
  expect(stdout).not.toMatch(/^Ready: y/m);
});

dockerTest('each form of DOCKER_HOST that an engine can have reaches it', {}, async () => {
  await dockerImage();
  await using remote = await openTcpEngine();
  const [, port] = /:(\d+)$/.exec(remote.host) ?? [];
  for (const host of [
    '',
    'unix:///var/run/docker.sock',
    remote.host,
    `http://127.0.0.1:${port}`,
    `tcp://localhost:${port}/`,
  ]) {
    const { code, stdout, stderr } = await timed(['exec', '-', '--runner', 'docker', '--json'], host);
    expect(code, `${host} ${stdout} ${stderr}`).toBe(0);
  }
  expect(await ownContainers()).toEqual([]);
});
