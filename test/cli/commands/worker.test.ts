import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { drainKey, workerKey } from '../../../src/sandboxes/fleet/fleet-keys.ts';
import { describeWith, requireHere } from '../../fixtures/describe-with.ts';
import { dockerImage, MISSING_ENGINE } from '../../fixtures/docker-image.ts';
import { MISSING_REDIS, type RedisServer, startRedis } from '../../fixtures/fleet/redis.ts';
import { startWorkerCommand, type WorkerCommand, writeFleetFile } from '../../fixtures/fleet/worker-command.ts';
import { freePort } from '../../fixtures/free-port.ts';
import { requireLevel } from '../../fixtures/levels.ts';
import { descendantsOf, isAlive, runCli, spawnCli } from '../../fixtures/spawn-cli.ts';
import { until } from '../../fixtures/until.ts';

const LOCAL = ['--runner', 'local'];
const FLEET = ['--runner', 'fleet', '--isolation', 'namespace'];
const ENDLESS = "console.log('runs'); setInterval(() => {}, 1_000);";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skillcell-worker-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describeWith('skillcell worker', MISSING_REDIS, () => {
  let redis: RedisServer;
  let file: string;
  const started: AsyncDisposable[] = [];
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(async () => await redis[Symbol.asyncDispose]());
  beforeEach((context) => {
    requireLevel(context, 'namespace');
    file = writeFleetFile(folder, redis.url);
  });
  afterEach(async () => {
    for (const each of started.splice(0)) await each[Symbol.asyncDispose]();
  });

  /** Starts a worker with the rights of its name. */
  const begin = async (name: string, ...flags: string[]): Promise<WorkerCommand> => {
    const own = writeFleetFile(folder, await redis.workerUrl(name), name);
    const worker = startWorkerCommand(['--fleet-file', own, ...LOCAL, '--name', name, ...flags]);
    started.push(worker);
    await worker.says('offers');
    return worker;
  };
  const exec = (code: string, ...flags: string[]): ReturnType<typeof runCli> =>
    runCli(['exec', '-', '--language', 'javascript', '--fleet-file', file, ...FLEET, '--json', ...flags], {
      stdin: code,
    });
  const withRedis = async <T>(use: (client: Redis) => Promise<T>): Promise<T> => {
    const client = new Redis(redis.url);
    return await use(client).finally(() => client.disconnect());
  };

  it('says what it offers, and runs the sandboxes of jobs', async () => {
    await redis.workerUrl('painter', 'blue');
    const worker = await begin('painter', '--queue', 'blue', '--slots', '3', '--pool', '1', '--json');
    // What is said on stderr may arrive before what was written to stdout.
    await until(() => worker.stdout().endsWith('\n'), 'what the worker offers');
    const build = (JSON.parse(worker.stdout()) as { build: string }).build;
    expect(JSON.parse(worker.stdout())).toEqual({
      ...{ name: 'painter', queue: 'blue', isolation: 'namespace', slots: 3 },
      build: expect.stringMatching(/^[0-9a-f]{8}$/),
    });
    expect(worker.stderr()).toContain(
      `worker painter offers the queue blue 3 sandboxes at level namespace, build ${build}\n`,
    );
    const { code, stdout } = await exec('console.log(6 * 7)', '--queue', 'blue');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ outcome: 'succeeded', stdout: { text: '42\n' }, runner: 'fleet', worker: 'painter', isolation: 'namespace' },
    });
    const other = await exec('console.log(1)');
    expect([other.code, JSON.parse(other.stdout).error]).toMatchObject([
      3,
      { code: 'runner.unavailable', message: expect.stringContaining('no worker of the queue default') },
    ]);
  });

  it('offers containers with --runner docker', async (context) => {
    requireHere(context, MISSING_ENGINE);
    await dockerImage();
    const own = writeFleetFile(folder, await redis.workerUrl('boxes'), 'boxes');
    const worker = startWorkerCommand(['--fleet-file', own, '--runner', 'docker', '--name', 'boxes']);
    started.push(worker);
    await worker.says('sandboxes at level container');
    const argv = ['exec', '-', '--language', 'javascript', '--fleet-file', file, '--isolation', 'container', '--json'];
    const { stdout } = await runCli([...argv, '--runner', 'fleet'], { stdin: 'console.log(6 * 7)' });
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ outcome: 'succeeded', stdout: { text: '42\n' }, worker: 'boxes', isolation: 'container' },
    });
  });

  it('is the first choice of auto when a fleet is named, and is passed over when it is empty', async () => {
    const auto = ['exec', '-', '--language', 'javascript', '--json', '--isolation', 'namespace'];
    const ran = async (env: Record<string, string>, flags: string[] = []): Promise<unknown> => {
      const { stdout } = await runCli([...auto, ...flags], { stdin: '1', env: { ...env, DOCKER_HOST: 'unix:///no' } });
      return (JSON.parse(stdout) as { runner: string }).runner;
    };
    expect(await ran({ SKILLCELL_FLEET: redis.url })).toBe('local');
    await begin('one');
    expect(await ran({ SKILLCELL_FLEET: redis.url })).toBe('fleet');
    expect(await ran({}, ['--fleet-file', file])).toBe('fleet');
    expect(await ran({})).toBe('local');
    expect(await ran({ SKILLCELL_FLEET: redis.url }, LOCAL)).toBe('local');
  });

  it('runs a session of repl, and a script of a skill', async () => {
    await begin('one');
    const given = ['--fleet-file', file, ...FLEET];
    const repl = await runCli(['repl', ...given], { stdin: 'const a = 6;\n\na * 7\n' });
    expect([repl.code, repl.stdout]).toEqual([0, expect.stringContaining('42')]);
    const skill = join(folder, 'skills/public/sayer');
    mkdirSync(join(skill, 'scripts'), { recursive: true });
    writeFileSync(join(skill, 'SKILL.md'), '---\nname: sayer\ndescription: Says hello.\n---\nSay.\n');
    writeFileSync(join(skill, 'scripts/say.mjs'), "console.log('hello');");
    const root = ['--skills-root', join(folder, 'skills')];
    const script = await runCli(['skills', 'run', 'sayer', 'scripts/say.mjs', ...root, ...given]);
    expect([script.code, script.stdout]).toEqual([0, 'hello\n']);
  });

  it('is waited for by serve', async () => {
    const port = await freePort();
    const argv = ['serve', '--port', String(port), '--state', join(folder, 'state'), '--fleet-file', file];
    const service = spawnCli([...argv, '--runner', 'fleet']);
    started.push({
      async [Symbol.asyncDispose]() {
        service.kill('SIGTERM');
        await once(service, 'exit');
      },
    });
    const ready = async (): Promise<boolean> => {
      if (service.exitCode !== null) throw new Error('the service has ended');
      return await fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    };
    await until(ready, 'the service', 60_000);
    const token = readFileSync(join(folder, 'state/admin-token'), 'utf8').trim();
    const headers = {
      ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      prefer: 'wait=50',
    };
    const body = JSON.stringify({ kind: 'exec', code: 'console.log(6 * 7)' });
    const answer = fetch(`http://127.0.0.1:${port}/api/v1/jobs`, { method: 'POST', headers, body });
    await begin('late');
    expect(await (await answer).json()).toMatchObject({ stdout: { text: '42\n' }, isolation: 'namespace' });
  });

  it('at SIGTERM takes nothing more, and ends when its sandboxes have ended', async () => {
    const worker = await begin('one');
    const job = exec("setTimeout(() => console.log('done'), 4_000)");
    await until(() => descendantsOf(worker.child.pid ?? 0).length > 0, 'the sandbox');
    worker.child.kill('SIGTERM');
    await worker.says('worker one ends; 1 sandboxes run');
    await until(async () => (await exec('1')).code === 3, 'the refusal');
    expect(JSON.parse((await job).stdout)).toMatchObject({ outcome: 'succeeded', stdout: { text: 'done\n' } });
    expect(await worker.ended).toBe(143);
    expect(await withRedis(async (client) => await client.exists(workerKey('one')))).toBe(0);
  });

  it.each([
    ['after --drain', ['--drain', '1'], 1],
    ['at a second signal', ['--drain', '300'], 2],
  ])('kills its sandboxes %s', async (_when, flags, signals) => {
    const worker = await begin('one', ...flags);
    const job = spawnCli(['exec', '-', '--language', 'javascript', '--fleet-file', file, ...FLEET]);
    const jobEnded = once(job, 'exit');
    job.stdin?.end(ENDLESS);
    let printed = '';
    job.stdout?.on('data', (piece: Buffer) => (printed += piece.toString()));
    await until(() => printed === 'runs\n', 'the program');
    const sandbox = descendantsOf(worker.child.pid ?? 0);
    worker.child.kill('SIGTERM');
    await worker.says('worker one ends');
    // One signal may come twice, by a terminal and the launcher.
    await new Promise((resolve) => setTimeout(resolve, 400));
    if (signals === 2) worker.child.kill('SIGTERM');
    expect(await worker.ended).toBe(143);
    expect(sandbox.length).toBeGreaterThan(0);
    await until(() => sandbox.every((pid) => !isAlive(pid)), 'the end of the sandbox');
    job.kill('SIGTERM');
    await jobEnded;
  });

  it('ends with 0 when another has asked it to drain', async () => {
    const worker = await begin('one');
    await withRedis(async (client) => await client.set(drainKey('one'), '1', 'EX', 60));
    await worker.says('was asked to drain');
    expect(await worker.ended).toBe(0);
    expect(await withRedis(async (client) => await client.exists(drainKey('one'), workerKey('one')))).toBe(0);
  });

  it('tries on while there is no Redis, and says so', async () => {
    await using later = await startRedis();
    const place = writeFleetFile(folder, await later.workerUrl('patient'), 'later');
    await later.stop();
    const worker = startWorkerCommand(['--fleet-file', place, ...LOCAL, '--name', 'patient']);
    started.push(worker);
    await worker.says('ECONNREFUSED');
    expect(worker.stderr()).toContain(`Redis at 127.0.0.1:${later.port}`);
    await later.start();
    await worker.says('offers');
    expect(worker.stderr().match(/is not reached/g)).toHaveLength(1);
    worker.child.kill('SIGTERM');
    expect(await worker.ended).toBe(143);
  });

  it('is interrupted while there is no Redis', async () => {
    const place = writeFleetFile(folder, `redis://127.0.0.1:${await freePort()}`, 'gone');
    const worker = startWorkerCommand(['--fleet-file', place, ...LOCAL]);
    await worker.says('ECONNREFUSED');
    worker.child.kill('SIGTERM');
    expect(await worker.ended).toBe(143);
  });

  it('ends with 3 when Redis refuses it', async () => {
    const place = writeFleetFile(folder, redis.url.replace(/\/\/.*@/, '//nobody:wrong@'), 'wrong');
    const { code, stdout } = await runCli(['worker', '--fleet-file', place, ...LOCAL, '--json']);
    expect(code).toBe(3);
    expect(JSON.parse(stdout).error).toMatchObject({
      code: 'fleet.refused',
      message: expect.stringMatching(/WRONGPASS/),
    });
    expect(stdout).not.toContain('nobody');
  });

  it.each([
    ['a name', ['--name', 'two']],
    ['a queue', ['--name', 'one', '--queue', 'blue']],
  ])('ends with 3 for %s that its user has no right to', async (_what, flags) => {
    const place = writeFleetFile(folder, await redis.workerUrl('one'), 'one');
    const { code, stdout } = await runCli(['worker', '--fleet-file', place, ...LOCAL, '--json', ...flags]);
    expect([code, JSON.parse(stdout).error]).toMatchObject([
      3,
      { code: 'fleet.refused', message: expect.stringMatching(/NOPERM/), hint: expect.stringContaining('fleet acl') },
    ]);
  });

  it.each([
    [['--runner', 'local', '--isolation', 'container'], 'the runner local has no such level'],
    [['--isolation', 'kernel'], 'the runner local has no such level'],
    [['--runner', 'docker'], '/nowhere'],
  ])('%j ends with 3 where the level is missing', async (flags, reason) => {
    const env = { DOCKER_HOST: 'unix:///nowhere/engine.sock' };
    const { code, stdout } = await runCli(['worker', '--fleet-file', file, '--json', ...flags], { env });
    expect(code).toBe(3);
    expect(JSON.parse(stdout).error).toMatchObject({
      code: 'runner.isolation-unmet',
      message: expect.stringContaining(reason),
    });
  });
});
