import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { KyselyPlugin, Selectable } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SkillcellError } from '../../src/contracts/errors/skillcell-error.ts';
import { createLogger } from '../../src/jobs/create-logger.ts';
import { type JobQueue, openJobQueue } from '../../src/queue/job-queue.ts';
import { joinReplicas } from '../../src/queue/replica.ts';
import { jobRows } from '../../src/queue/rows/job-rows.ts';
import { folderFiles } from '../../src/queue/seams/folder-files.ts';
import { folderLog } from '../../src/queue/seams/folder-log.ts';
import type { JobLog, LogPart } from '../../src/queue/seams/job-log.ts';
import { localDispatch } from '../../src/queue/seams/local-dispatch.ts';
import type { Database } from '../../src/registry/database/database.ts';
import type { JobRow } from '../../src/registry/database/tables.ts';
import { openDatabase } from '../../src/registry/database/open-database.ts';
import { type DatabaseScene, describeDatabase } from '../fixtures/databases.ts';
import { logLines } from '../fixtures/log-lines.ts';
import { type ScriptedJob, scriptedJobs } from '../fixtures/scripted-jobs.ts';
import { startTcpProxy } from '../fixtures/tcp-proxy.ts';
import { until } from '../fixtures/until.ts';

const program = { kind: 'exec', code: 'console.log(1)' } as const;
/** A dead replica is found after its lease, by the next sign of life of another one. */
const TAKEN_MS = 40_000;

/** A replica of a service, in this process. */
interface Place {
  database: Database;
  queue: JobQueue;
  log: JobLog;
  jobs: ReturnType<typeof scriptedJobs>;
  /** Whether its signs of life are lost. */
  isCut: boolean;
  /** Whether it sees no job that others have taken up. */
  isBlind: boolean;
  /** Whether its changes have no answer. */
  losesAnswers: boolean;
}

describeDatabase('PostgreSQL', 'replicas of a queue', (make) => {
  let scene: DatabaseScene;
  let places: Place[];
  beforeEach(() => {
    [scene, places] = [make(), []];
  });
  afterEach(async () => {
    for (const { queue, database } of places) {
      await queue.close();
      await database.close();
    }
  });

  /** @param about the address of the database, if it is reached in another way, and whether its files are on a host of their own */
  async function open(
    concurrency = 1,
    { url = scene.url, isFar = false }: { url?: string | undefined; isFar?: boolean } = {},
  ): Promise<Place> {
    const opened = await openDatabase({ folder: scene.folder, url, isShared: true });
    // A folder that all of them see, unless they are on hosts of their own.
    const folder = join(scene.folder, isFar ? `jobs-${places.length}` : 'jobs');
    mkdirSync(folder, { recursive: true });
    const place = { jobs: scriptedJobs(), isCut: false, isBlind: false, losesAnswers: false } as Place;
    const refuseIf = (isRefused: (node: { kind: string }) => boolean): KyselyPlugin => ({
      transformQuery({ node }) {
        if (isRefused(node)) throw new SkillcellError('database.unavailable', 'on purpose');
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    const isLook = (node: { kind: string }): boolean =>
      node.kind === 'SelectQueryNode' && JSON.stringify(node).includes('"cancel_reason"');
    const changes = new WeakSet<object>();
    const losing: KyselyPlugin = {
      transformQuery({ node, queryId }) {
        if (node.kind === 'UpdateQueryNode') changes.add(queryId);
        return node;
      },
      async transformResult({ result, queryId }) {
        if (place.losesAnswers && changes.has(queryId)) throw new SkillcellError('database.unavailable', 'on purpose');
        return result;
      },
    };
    const db = opened.db.withPlugin(refuseIf((node) => place.isBlind && isLook(node))).withPlugin(losing);
    const signs = opened.signs.withPlugin(refuseIf(() => place.isCut));
    place.database = { ...opened, db, signs };
    const files = folderFiles(folder);
    place.log = folderLog(files);
    place.queue = await openJobQueue({
      ...{ database: place.database, files, log: place.log, start: place.jobs.start },
      dispatch: localDispatch({ pollMs: 100 }),
      replica: await joinReplicas(place.database, 'http://127.0.0.1:1'),
      resolve: async (request) => request,
      ...{ concurrency, maxWaiting: 1_000, keepDays: 1 },
      logger: createLogger({ destination: { write: () => undefined } }),
    });
    places.push(place);
    return place;
  }
  const submit = async ({ queue }: Place, userId = 1): Promise<string> =>
    (await queue.submit({ userId, request: program })).row.id;
  const ended = async ({ queue }: Place, id: string): ReturnType<JobQueue['wait']> =>
    await queue.wait(id, 60_000, AbortSignal.timeout(60_000));
  const jobOf = async (id: string, attempt: number): Promise<ScriptedJob & { place: Place }> => {
    const find = (): (ScriptedJob & { place: Place }) | undefined =>
      places.flatMap((place) =>
        place.jobs.running.filter((job) => job.id === id && job.attempt === attempt).map((job) => ({ ...job, place })),
      )[0];
    await until(() => find() !== undefined, `attempt ${attempt} of ${id}`, TAKEN_MS);
    return find() as ScriptedJob & { place: Place };
  };

  it('run each job once, and the next one is that of the user with the fewest running', async () => {
    const [one, two] = [await open(), await open()];
    const [first, second, third] = [await submit(one, 1), await submit(one, 1), await submit(one, 1)];
    const other = await submit(two, 2);
    const running = (): string[] => places.flatMap(({ jobs }) => jobs.running.map(({ id }) => id));
    await until(() => running().length === 2, 'two jobs');
    const left = new Set([third, other]);
    for (const id of [first, second]) {
      if (running().includes(id)) (await jobOf(id, 1)).end();
      else left.add(id);
    }
    await until(() => running().includes(other), 'the job of the other user');
    while (left.size > 0) {
      for (const id of running()) {
        left.delete(id);
        (await jobOf(id, 1)).end();
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    for (const id of [first, second, third, other])
      expect(await ended(two, id)).toMatchObject({ outcome: 'succeeded', attempt: 1 });
  });

  it('cancel and await the jobs of each other', async () => {
    const one = await open();
    const id = await submit(one);
    await jobOf(id, 1);
    const two = await open();
    const end = ended(two, id);
    expect(await two.queue.cancel({ id, kind: 'exec', attempt: 1 }, 'not needed')).toBe(true);
    expect(await end).toMatchObject({ outcome: 'canceled', attempt: 1 });
    expect((await end)?.result).toContain('not needed');
  });

  it('take the jobs of a dead one up, unless a tool may have changed something', { timeout: 120_000 }, async () => {
    const one = await open(2);
    const [plain, changed] = [await submit(one), await submit(one)];
    await jobOf(plain, 1);
    await (await jobOf(changed, 1)).change('crm.note');
    const two = await open();
    // Nothing of a dead process is ended or recorded.
    await one.database.close();
    const again = await jobOf(plain, 2);
    expect(again.place).toBe(two);
    again.end();
    expect(await ended(two, plain)).toMatchObject({ outcome: 'succeeded', attempt: 2 });
    expect(await ended(two, changed)).toMatchObject({ outcome: 'failed', error_code: 'job.host-lost', attempt: 1 });
  });

  it('begin no call without signs of life, and refuse what comes late', { timeout: 120_000 }, async () => {
    const one = await open();
    const id = await submit(one);
    const before = await jobOf(id, 1);
    const two = await open();
    one.isCut = true;
    expect(before.mayCall()).toBe(true);
    await until(() => !before.mayCall(), 'the end of calls', TAKEN_MS);
    const again = await jobOf(id, 2);
    expect([again.place, again.mayCall()]).toEqual([two, true]);
    // The first replica sees that its job is another's.
    await until(() => one.jobs.running.length === 0, 'the end of the first attempt');
    again.end();
    expect(await ended(two, id)).toMatchObject({ outcome: 'succeeded', attempt: 2 });
    const marks = (): string[] =>
      logLines(join(scene.folder, 'jobs', id))
        ?.join('')
        .match(/"(?:restarted|finished)"/g) ?? [];
    await until(() => marks().length > 1, 'the last event');
    expect(marks()).toEqual(['"restarted"', '"finished"']);
    one.isCut = false;
  });

  it(
    'begin no call after a pause until the jobs that others have taken up are ended',
    { timeout: 120_000 },
    async () => {
      const one = await open();
      const id = await submit(one);
      const before = await jobOf(id, 1);
      const two = await open();
      [one.isCut, one.isBlind] = [true, true];
      const again = await jobOf(id, 2);
      expect([again.place, again.mayCall(), before.mayCall()]).toEqual([two, true, false]);
      // It is back, as after a stop of its process, and has not looked yet.
      one.isCut = false;
      const rows = (): Promise<{ url: string }[]> => two.database.db.selectFrom('replicas').select('url').execute();
      await until(async () => (await rows()).length === 2, 'a sign of life', TAKEN_MS);
      for (let look = 0; look < 100; look += 1) {
        expect(before.mayCall()).toBe(false);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      one.isBlind = false;
      await until(() => one.jobs.running.length === 0, 'the end of the first attempt', TAKEN_MS);
      const next = await jobOf(await submit(one), 1);
      expect(next.place).toBe(one);
      await until(() => next.mayCall(), 'calls of a new job', TAKEN_MS);
      next.end();
      again.end();
      expect(await ended(one, id)).toMatchObject({ outcome: 'succeeded', attempt: 2 });
    },
  );

  it('keep their jobs while connections to the database go silent', { timeout: 120_000 }, async () => {
    const proxy = await startTcpProxy(Number(new URL(scene.url ?? '').port));
    const url = new URL(scene.url ?? '');
    url.port = String(proxy.port);
    const one = await open(1, { url: url.href });
    const id = await submit(one);
    const before = await jobOf(id, 1);
    const two = await open();
    // It has seen the database for a lease, and would take jobs up.
    await new Promise((resolve) => setTimeout(resolve, 18_000));
    proxy.hold('both');
    await new Promise((resolve) => setTimeout(resolve, 9_000));
    // The connections from before stay silent: TCP tries less and less often. New ones go through.
    proxy.leaveHeld();
    await new Promise((resolve) => setTimeout(resolve, 12_000));
    expect([before.mayCall(), two.jobs.running.length]).toEqual([true, 0]);
    before.end();
    expect(await ended(two, id)).toMatchObject({ outcome: 'succeeded', attempt: 1 });
    await proxy.close();
  });

  it('record an end whose first record had no answer', async () => {
    const [one, two] = [await open(), await open()];
    const id = await submit(one);
    const job = await jobOf(id, 1);
    job.place.losesAnswers = true;
    job.end();
    await until(async () => (await two.queue.rows.summary(id))?.state === 'finished', 'the end');
    job.place.losesAnswers = false;
    expect(await ended(two, id)).toMatchObject({ outcome: 'succeeded', attempt: 1 });
    await until(() => /"finished"/.test(logLines(join(scene.folder, 'jobs', id))?.join('') ?? ''), 'the last event');
  });

  it(
    'tell the end of a job whose log is lost with its host, at the same place each',
    { timeout: 120_000 },
    async () => {
      const one = await open(2, { isFar: true });
      const [changed, canceled] = [await submit(one), await submit(one)];
      await (await jobOf(changed, 1)).change('crm.note');
      await jobOf(canceled, 1);
      await one.queue.cancel({ id: canceled, kind: 'exec', attempt: 1 }, 'enough');
      // It dies before it has seen the wish.
      await one.database.close();
      const [two, three] = [await open(2, { isFar: true }), await open(2, { isFar: true })];
      for (const [id, outcome] of [
        [changed, 'failed'],
        [canceled, 'canceled'],
      ] as const) {
        expect(await ended(two, id)).toMatchObject({ outcome, attempt: 1 });
        const ends: LogPart[] = [];
        for (const { queue, log } of [two, three]) {
          const row = await queue.rows.summary(id);
          if (row === undefined) return expect.unreachable('the row is gone');
          await queue.complete(row);
          // A reader has seen more of the lost log than anyone has now.
          const seen = { attempt: 1, offset: 5_000 };
          expect(await log.isPlace(id, seen)).toBe(true);
          for await (const parts of log.read(id, seen, AbortSignal.timeout(10_000))) {
            ends.push(...parts.map((part) => ({ ...part, bytes: Buffer.from(part.bytes) })));
            break;
          }
        }
        expect(ends[0]).toMatchObject({ place: { attempt: 2 }, isFirst: true, isLast: true });
        expect(String(ends[0]?.bytes)).toMatch(/^\{"type":"finished"/);
        expect(ends).toEqual([ends[0], ends[0]]);
      }
    },
  );

  it('claim 10,000 jobs, each once, and the job of another user is the next', { timeout: 300_000 }, async () => {
    const count = 10_000;
    const replicas = await Promise.all(
      Array.from({ length: 4 }, async (_, number) => {
        const database = await scene.open(true);
        const { id } = await joinReplicas(database, `http://127.0.0.1:${number + 1}`);
        return { id, database, rows: jobRows(database, { maxWaiting: 1, now: Date.now, owner: id }) };
      }),
    );
    const [first] = replicas as [(typeof replicas)[number]];
    const add = async (user: number, from: number, to: number): Promise<void> => {
      const jobs = Array.from({ length: to - from }, (_, index) => ({
        ...{ id: `job-${from + index}`, user_id: user, kind: 'exec', state: 'waiting', attempt: 0, created_at: 1 },
        ...{ request_hash: '', request: '{}' },
      }));
      await first.database.db
        .insertInto('jobs')
        .values(jobs as never)
        .execute();
    };
    for (let at = 0; at < count; at += 1_000) await add(1, at, at + 1_000);
    const claimed: Selectable<JobRow>[] = [];
    const claimUpTo = async (most: number): Promise<void> => {
      const claimOn = async ({ id, rows }: (typeof replicas)[number]): Promise<void> => {
        while (claimed.length < most) {
          const row = await rows.claim();
          if (row === undefined) return;
          expect([row.state, row.attempt, row.owner]).toEqual(['running', 1, id]);
          claimed.push(row);
        }
      };
      // Each has several claims under way.
      await Promise.all([...replicas, ...replicas].map(claimOn));
    };
    await claimUpTo(count / 2);
    await add(2, count, count + 1);
    expect((await replicas[3]?.rows.claim())?.user_id).toBe(2);
    await claimUpTo(count + 1);
    expect(claimed).toHaveLength(count);
    expect(new Set(claimed.map(({ id }) => id)).size).toBe(count);
    expect(new Set(claimed.map(({ owner }) => owner)).size).toBe(4);
    for (const { database } of replicas) await database.close();
  });

  it('exclude a process that has the database alone', async () => {
    await open();
    await expect(scene.open()).rejects.toMatchObject({ code: 'database.in-use' });
    const alone = make();
    await using _database = await alone.open();
    await expect(alone.open(true)).rejects.toMatchObject({ code: 'database.in-use' });
  });
});
