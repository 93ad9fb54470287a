import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChildProcess } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../../fixtures/free-port.ts';
import { BEST_FLAGS, requireLevel } from '../../fixtures/levels.ts';
import { runCli, spawnCli } from '../../fixtures/spawn-cli.ts';
import { until } from '../../fixtures/until.ts';

const REPLICA = ['--replica', '--database', 'postgres://a@b/c'];

let folder: string;
let port: number;
const services: ChildProcess[] = [];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'skillcell-serve-'));
  port = await freePort();
});
afterEach(async () => {
  for (const service of services.splice(0)) {
    if (service.exitCode !== null || service.signalCode !== null) continue;
    service.kill('SIGTERM');
    await once(service, 'exit');
  }
  rmSync(folder, { recursive: true, force: true });
});

interface Running {
  child: ChildProcess;
  stderr(): string;
  stdout(): string;
}

/** Starts the service, and waits until it answers. */
async function serve(...flags: string[]): Promise<Running> {
  const child = spawnCli([
    'serve',
    '--port',
    String(port),
    '--state',
    folder,
    '--runner',
    'local',
    ...BEST_FLAGS,
    ...flags,
  ]);
  services.push(child);
  const [out, err] = [textOf(child.stdout), textOf(child.stderr)];
  await until(
    async () => {
      if (child.exitCode !== null) throw new Error(`it ended: ${err()}`);
      return await fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    },
    'the service',
    60_000,
  );
  return { child, stdout: out, stderr: err };
}

function textOf(stream: NodeJS.ReadableStream | null): () => string {
  let text = '';
  stream?.on('data', (piece: Buffer) => (text += piece.toString()));
  return () => text;
}

async function call(path: string, body?: object): Promise<{ status: number; json: Record<string, unknown> }> {
  const token = readFileSync(join(folder, 'admin-token'), 'utf8').trim();
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', prefer: 'wait=30' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
  return { status: answer.status, json: (await answer.json()) as Record<string, unknown> };
}

describe('skillcell serve', () => {
  it('runs jobs within its flags, and goes on with its state after a restart', async () => {
    const first = await serve('--memory', '256', '--json');
    expect(JSON.parse(first.stdout())).toEqual({
      url: `http://127.0.0.1:${port}`,
      adminToken: join(folder, 'admin-token'),
    });
    expect(first.stderr()).toContain(`listens at http://127.0.0.1:${port}`);
    expect(statSync(join(folder, 'admin-token')).mode & 0o777).toBe(0o600);
    const { json } = await call('/jobs', { kind: 'exec', code: 'console.log(6 * 7)' });
    expect(json).toMatchObject({ outcome: 'succeeded', stdout: { text: '42\n' } });
    const { json: refused } = await call('/jobs', { kind: 'exec', code: '1', limits: { memoryMib: 512 } });
    expect(refused).toMatchObject({ outcome: 'failed', error: { name: 'job.invalid' } });
    // Without a flag, the default of a limit is the most that a job may ask for.
    const { json: long } = await call('/jobs', { kind: 'exec', code: '1', limits: { workspaceMib: 129 } });
    expect(long).toMatchObject({ outcome: 'failed', error: { name: 'job.invalid' } });
    const { json: withTool } = await call('/jobs', { kind: 'exec', code: '1', tools: ['skills.*'] });
    expect(withTool).toMatchObject({
      outcome: 'failed',
      error: { name: 'job.invalid', message: expect.stringContaining('tool') },
    });
    first.child.kill('SIGTERM');
    expect(await once(first.child, 'exit')).toEqual([143, null]);
    const second = await serve();
    expect(second.stderr()).not.toContain('admin-token');
    expect((await call(`/jobs/${String(json['jobId'])}/result`)).json).toEqual(json);
  });

  it('runs as many jobs at once as its flag says', async () => {
    await serve('--jobs', '1');
    const job = { kind: 'exec', code: 'console.log(Date.now()); setTimeout(() => console.log(Date.now()), 300)' };
    const ended = await Promise.all([call('/jobs', job), call('/jobs', job)]);
    const times = ended.map(({ json }) => (json['stdout'] as { text: string }).text.trim().split('\n').map(Number));
    const [first = [], second = []] = times.toSorted(([a = 0], [b = 0]) => a - b);
    expect(second[0]).toBeGreaterThanOrEqual(first[1] ?? Number.NaN);
  });

  it('at SIGTERM lets a job end, and refuses new ones meanwhile', async () => {
    const { child } = await serve();
    const running = call('/jobs', { kind: 'exec', code: "setTimeout(() => console.log('done'), 3_000)" });
    await until(async () => ((await call('/jobs?state=running')).json['items'] as unknown[]).length === 1, 'the job');
    child.kill('SIGTERM');
    // A job that is sent before the signal arrives would be answered at its end.
    await until(async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status === 503, 'the end');
    expect((await call('/jobs', { kind: 'exec', code: '1' })).status).toBe(503);
    expect((await running).json).toMatchObject({ stdout: { text: 'done\n' } });
    expect(await once(child, 'exit')).toEqual([143, null]);
  });

  it('starts the jobs of a killed service again, and runs those that waited', async () => {
    const { child } = await serve();
    const submit = async (code: string): Promise<string> => {
      const token = readFileSync(join(folder, 'admin-token'), 'utf8').trim();
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ kind: 'exec', code });
      const answer = await fetch(`http://127.0.0.1:${port}/api/v1/jobs`, { method: 'POST', headers, body });
      return ((await answer.json()) as { id: string }).id;
    };
    const slow: string[] = [];
    for (let at = 0; at < 2; at += 1) slow.push(await submit("setTimeout(() => console.log('again'), 4_000)"));
    await until(async () => ((await call('/jobs?state=running')).json['items'] as unknown[]).length === 2, 'both jobs');
    const waiting = await submit("console.log('after all')");
    child.kill('SIGKILL');
    await once(child, 'exit');
    await serve();
    for (const id of [...slow, waiting])
      await until(async () => (await call(`/jobs/${id}/result`)).status === 200, 'the end of a job');
    for (const id of slow)
      expect((await call(`/jobs/${id}/result`)).json).toMatchObject({ attempt: 2, stdout: { text: 'again\n' } });
    expect((await call(`/jobs/${waiting}/result`)).json).toMatchObject({ stdout: { text: 'after all\n' } });
  });

  it('gives jobs the network of its file, and no other', async (context) => {
    requireLevel(context, 'namespace');
    const file = join(folder, 'network.json');
    writeFileSync(file, JSON.stringify({ allow: ['api.example.com'] }));
    await serve('--network', file);
    const code = "console.log('ran')";
    expect((await call('/jobs', { kind: 'exec', code, network: ['api.example.com'] })).json).toMatchObject({
      outcome: 'succeeded',
      stdout: { text: 'ran\n' },
    });
    const { status, json } = await call('/jobs', { kind: 'exec', code, network: ['other.example'] });
    expect([status, json['code']]).toEqual([403, 'network.not-allowed']);
    writeFileSync(file, JSON.stringify({ allow: [] }));
    const without = await runCli(['serve', '--state', folder, '--network', file, '--allow-host', 'a.example']);
    expect([without.code, without.stderr]).toEqual([2, expect.stringContaining('in `allow` of the file')]);
  });

  it('refuses a state that another service has, and a port that is taken', async () => {
    await serve();
    const other = await runCli(['serve', '--port', '0', '--state', folder, '--json']);
    expect([other.code, JSON.parse(other.stdout).error.code]).toEqual([3, 'database.in-use']);
    const state = mkdtempSync(join(tmpdir(), 'skillcell-serve-'));
    const taken = await runCli(['serve', '--port', String(port), '--state', state, '--json']);
    expect([taken.code, JSON.parse(taken.stdout).error.code]).toEqual([3, 'service.unavailable']);
    rmSync(state, { recursive: true });
  });

  it.for([
    [['--host', '0.0.0.0'], '--host'],
    [['--host', 'example.com'], '--host'],
    [['--port', '65536'], '--port'],
    [['--database', 'mysql://localhost/x'], '--database'],
    [['--keep-days', '0'], '--keep-days'],
    [['--state', ''], '--state'],
    [['--replica'], '--replica without --database, --advertise, --files'],
    [['--replica', '--database', 'postgres://a@b/c', '--advertise', 'http://a:1'], '--replica without --files'],
    [['--files', 's3://bucket'], '--files'],
    [['--advertise', 'http://a:1'], '--advertise'],
    [[...REPLICA, '--advertise', 'http://user:word@a:1', '--files', 's3://bucket'], '--advertise'],
    [[...REPLICA, '--advertise', 'http://a:1/path', '--files', 's3://bucket'], '--advertise'],
    [[...REPLICA, '--advertise', 'a:1', '--files', 's3://bucket'], '--advertise'],
    [[...REPLICA, '--advertise', 'http://a:1', '--files', 'bucket'], '--files'],
    [['--jobs', '0'], '--jobs'],
    [['--allow-host', '*'], '--allow-host'],
    [['--allow-host', 'skills.example.com:443'], '--allow-host'],
    [['--allow-host', ''], '--allow-host'],
    [['--tool', 'nope.x', '--port', '0'], '--tool'],
  ] as const)('refuses %s as usage', async ([flags, named]) => {
    const { code, stderr } = await runCli(['serve', '--state', folder, ...flags]);
    expect([code, stderr.includes(named)]).toEqual([2, true]);
  });
});
