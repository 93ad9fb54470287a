import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Ceph, MISSING_CEPH, startCeph } from '../fixtures/ceph.ts';
import { describeWith } from '../fixtures/describe-with.ts';
import { MISSING_POSTGRES, type PostgresServer, startPostgres } from '../fixtures/postgres.ts';
import { openRawBucket, type RawBucket } from '../fixtures/raw-bucket.ts';
import {
  addressOfJob,
  adminTokens,
  type ReplicaPlace,
  type ReplicaProcess,
  startReplica,
} from '../fixtures/replicas.ts';
import { until } from '../fixtures/until.ts';

/** A replica that is killed is found after its lease of 15 seconds. */
const TAKEN_MS = 60_000;
const LAST = '"type":"finished"';
/** Prints, writes an artifact from its input, and ends when a file of the host says so. */
const WORK = `
  import { readFileSync, writeFileSync } from 'node:fs';
  for (let at = 0; at < 60; at += 1) console.log('line', at, 'é');
  console.error(readFileSync(0, 'utf8'));
  writeFileSync(process.env.SKILLCELL_OUTPUT + '/made.txt', readFileSync('given.txt', 'utf8').toUpperCase());
  await new Promise((resolve) => setTimeout(resolve, Number(process.env.PAUSE)));`;

interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- The tests compare single fields.
  json: any;
}

describeWith('replicas of a service', MISSING_CEPH ?? MISSING_POSTGRES, () => {
  let ceph: Ceph;
  let postgres: PostgresServer;
  let raw: RawBucket;
  let place: ReplicaPlace;
  let token: string;
  let databases = 0;
  const started: ReplicaProcess[] = [];
  beforeAll(async () => {
    [ceph, postgres] = await Promise.all([startCeph(), startPostgres()]);
    raw = openRawBucket(ceph.endpoint, ceph.owner.credentials, 'service');
    await raw.create();
  });
  afterAll(async () => {
    raw?.close();
    await Promise.all([ceph?.[Symbol.asyncDispose](), postgres?.[Symbol.asyncDispose]()]);
  });
  beforeEach(() => {
    const folder = mkdtempSync(join(tmpdir(), 'skillcell-replicas-'));
    place = { folder, databaseUrl: postgres.create(`replicas${(databases += 1)}`), ceph, bucket: 'service' };
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((each) => each.end()));
    rmSync(place.folder, { recursive: true, force: true });
  });

  /** Starts processes at the same moment. */
  const start = async (names: readonly string[], ...flags: string[]): Promise<ReplicaProcess[]> => {
    const replicas = await Promise.all(names.map((name) => startReplica(place, name, ...flags)));
    started.push(...replicas);
    await Promise.all(replicas.map(({ ready }) => ready));
    token = adminTokens(place, ['one', 'two'])[0] ?? '';
    return replicas;
  };
  const call = async (
    { url }: Pick<ReplicaProcess, 'url'>,
    path: string,
    init: RequestInit & { body?: string } = {},
  ): Promise<Answer> => {
    const type = init.body === undefined ? {} : { 'content-type': 'application/json' };
    const headers = { authorization: `Bearer ${token}`, ...type, ...init.headers };
    const answer = await fetch(`${url}/api/v1${path}`, { ...init, headers });
    const text = await answer.text();
    const isJson = /json/.test(answer.headers.get('content-type') ?? '');
    return {
      status: answer.status,
      headers: answer.headers,
      text,
      json: isJson && text ? JSON.parse(text) : undefined,
    };
  };
  const submit = async (
    replica: ReplicaProcess,
    pause: number,
    headers: Record<string, string> = {},
  ): Promise<string> => {
    const job = { kind: 'exec', language: 'javascript', code: WORK, files: { 'given.txt': 'given é' }, stdin: 'typed' };
    const body = JSON.stringify({ ...job, env: { PAUSE: String(pause) } });
    const { status, json } = await call(replica, '/jobs', { method: 'POST', body, headers });
    expect(json).toMatchObject({});
    expect([200, 202]).toContain(status);
    return (json.id ?? json.jobId) as string;
  };
  const events = async (replica: ReplicaProcess, id: string, after?: string): Promise<string[]> => {
    const { status, text } = await call(replica, `/jobs/${id}/events`, {
      headers: after === undefined ? {} : { 'last-event-id': after },
    });
    expect(status).toBe(200);
    return text.split('\n\n').filter((event) => event.startsWith('id: '));
  };
  /** The process that runs a job, and another one. */
  const ownerOf = async (id: string): Promise<{ owner: ReplicaProcess; other: ReplicaProcess }> => {
    let address: string | undefined;
    await until(async () => (address = await addressOfJob(place, id)) !== undefined, `the start of ${id}`, TAKEN_MS);
    const owner = started.find(({ url }) => url === address);
    const other = started.find((each) => each.url !== address && each.child.exitCode === null);
    if (owner === undefined || other === undefined) return expect.unreachable('no such replica');
    return { owner, other };
  };

  it('have one first admin, and show a job alike while it runs and after its process is gone', async () => {
    const [one, two] = (await start(['one', 'two'])) as [ReplicaProcess, ReplicaProcess];
    expect(adminTokens(place, ['one', 'two'])).toHaveLength(1);
    const id = await submit(one, 3_000);
    const { owner, other } = await ownerOf(id);
    const [here, there] = [events(owner, id), events(other, id)];
    await until(async () => (await call(other, `/jobs/${id}/output/stdout`)).text.includes('line 59'), 'the output');
    expect(await call(other, `/jobs/${id}/output/stdout`, { headers: { range: 'bytes=0-3' } })).toMatchObject({
      ...{ status: 206, text: 'line' },
    });
    expect(await there).toEqual(await here);
    expect((await here).at(-1)).toContain(LAST);
    const views = async (replica: ReplicaProcess): Promise<unknown[]> => [
      (await call(replica, `/jobs/${id}/result`)).json,
      await events(replica, id),
      await events(replica, id, (await here)[1]?.slice(4).split('\n')[0]),
      ...(await Promise.all(
        ['output/stdout', 'output/stderr', 'artifacts', 'artifacts/made.txt'].map(async (path) => {
          const { status, text } = await call(replica, `/jobs/${id}/${path}`);
          return [status, text];
        }),
      )),
    ];
    const expected = await views(owner);
    expect(expected.slice(-1)).toEqual([[200, 'GIVEN É']]);
    expect(await views(other)).toEqual(expected);
    expect(await owner.end()).toBe(143);
    expect(await views(other)).toEqual(expected);
    // The same files again, which the other process accepted.
    const { json: again } = await call(other, `/jobs/${id}/rerun`, { method: 'POST', headers: { prefer: 'wait=60' } });
    expect(again).toMatchObject({ outcome: 'succeeded', stderr: { text: 'typed\n' } });
    expect(await raw.keys(`jobs/${id}/`)).toHaveLength(6);
    expect((await call(other, `/jobs/${id}`, { method: 'DELETE' })).status).toBe(204);
    expect(await raw.keys(`jobs/${id}/`)).toEqual([]);
    expect(two).toBeDefined();
  });

  it('pass a request on once, and cancel what runs elsewhere', async () => {
    await start(['one', 'two']);
    const id = await submit(started[0] as ReplicaProcess, 60_000);
    const { other } = await ownerOf(id);
    const moved = await call(other, `/jobs/${id}/events`, { headers: { 'x-skillcell-passed-on': '1' } });
    expect([moved.status, moved.json.code, moved.headers.get('retry-after')]).toEqual([
      503,
      'service.unavailable',
      '1',
    ]);
    // The process that runs the job judges the token, too.
    const { json: made } = await call(other, '/users', { method: 'POST', body: '{"name":"member","role":"member"}' });
    const foreign = await call(other, `/jobs/${id}/events`, {
      headers: { authorization: `Bearer ${made.token.token}` },
    });
    expect([foreign.status, foreign.json.code]).toEqual([404, 'resource.not-found']);
    const watched = events(other, id);
    expect((await call(other, `/jobs/${id}/cancel`, { method: 'POST', body: '{"reason":"enough"}' })).status).toBe(202);
    expect((await watched).at(-1)).toMatch(/"outcome":"canceled".*enough/s);
  });

  it('let a job that waits be watched anywhere', async () => {
    await start(['one', 'two']);
    // Two processes with two places each.
    const busy = await Promise.all(started.flatMap((each) => [submit(each, 2_500), submit(each, 2_500)]));
    const id = await submit(started[0] as ReplicaProcess, 0);
    const [here, there] = await Promise.all(started.map((each) => events(each, id)));
    expect(here).toEqual(there);
    expect(here?.at(-1)).toContain(LAST);
    expect(busy).toHaveLength(4);
  });

  it('go on with the jobs of one that is killed, and with their streams', { timeout: 180_000 }, async () => {
    await start(['one', 'two']);
    const id = await submit(started[0] as ReplicaProcess, 4_000);
    const { owner, other } = await ownerOf(id);
    const answer = await fetch(`${other.url}/api/v1/jobs/${id}/events`, {
      headers: { authorization: `Bearer ${token}` },
    });
    let seen = '';
    const reading = (async () => {
      for await (const piece of answer.body ?? []) seen += Buffer.from(piece as Uint8Array).toString();
    })().catch(() => undefined);
    await until(() => seen.includes('line 59'), 'the output');
    await owner.end('SIGKILL');
    // The stream ends with its process, and is asked for again.
    await reading;
    const last = /^id: (.*)$/m.exec(seen.split('\n\n').at(-2) ?? '')?.[1];
    let rest: string[] = [];
    await until(
      async () => {
        const { status, text } = await call(other, `/jobs/${id}/events`, { headers: { 'last-event-id': last ?? '' } });
        if (status !== 200) return false;
        rest = text.split('\n\n').filter((event) => event.startsWith('id: '));
        return rest.at(-1)?.includes(LAST) === true;
      },
      'the end of the job',
      TAKEN_MS,
    );
    expect([last, rest[0]]).toEqual([expect.stringMatching(/^1\./), expect.stringMatching(/^id: 2\..*"restarted"/s)]);
    const { json } = await call(other, `/jobs/${id}/result`);
    expect(json).toMatchObject({ outcome: 'succeeded', attempt: 2, stderr: { text: 'typed\n' } });
  });

  it('hand their running jobs over when they end in good order', { timeout: 120_000 }, async () => {
    await start(['one', 'two'], '--drain', '0');
    const id = await submit(started[0] as ReplicaProcess, 5_000);
    const { owner, other } = await ownerOf(id);
    const watched = events(other, id).catch(() => undefined);
    await owner.end();
    await watched;
    const { owner: next } = await ownerOf(id).catch(() => ({ owner: other }));
    expect(next).toBe(other);
    await until(async () => (await call(other, `/jobs/${id}/result`)).status === 200, 'the end', TAKEN_MS);
    const { json } = await call(other, `/jobs/${id}/result`);
    expect(json).toMatchObject({ outcome: 'succeeded', attempt: 2 });
  });
});
