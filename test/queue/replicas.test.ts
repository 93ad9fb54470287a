import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SkillcellError } from '../../src/contracts/errors/skillcell-error.ts';
import { createLogger } from '../../src/jobs/create-logger.ts';
import { type JobQueue, openJobQueue } from '../../src/queue/job-queue.ts';
import { joinReplicas } from '../../src/queue/replica.ts';
import { folderFiles } from '../../src/queue/seams/folder-files.ts';
import { folderLog } from '../../src/queue/seams/folder-log.ts';
import { localDispatch } from '../../src/queue/seams/local-dispatch.ts';
import type { Database } from '../../src/registry/database/database.ts';
import { type DatabaseScene, describeDatabase } from '../fixtures/databases.ts';
import { logLines } from '../fixtures/log-lines.ts';
import { type ScriptedJob, scriptedJobs } from '../fixtures/scripted-jobs.ts';
import { until } from '../fixtures/until.ts';

const program = { kind: 'exec', code: 'console.log(1)' } as const;
/** A dead replica is found after its lease, by the next sign of life of another one. */
const TAKEN_MS = 40_000;

/** A replica of a service, in this process. */
interface Place {
  database: Database;
  queue: JobQueue;
  jobs: ReturnType<typeof scriptedJobs>;
  /** Whether its signs of life are lost. */
  isCut: boolean;
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

  async function open(concurrency = 1): Promise<Place> {
    const opened = await scene.open(true);
    // A folder that all of them see.
    const folder = join(scene.folder, 'jobs');
    mkdirSync(folder, { recursive: true });
    const place = { jobs: scriptedJobs(), isCut: false } as Place;
    const refuse = ({ node }: { node: { kind: string } }): never | typeof node => {
      const isSign = node.kind === 'InsertQueryNode' && JSON.stringify(node).includes('"replicas"');
      if (isSign && place.isCut) throw new SkillcellError('database.unavailable', 'on purpose');
      return node;
    };
    const db = opened.db.withPlugin({
      transformQuery: refuse as never,
      transformResult: async ({ result }) => result,
    });
    place.database = { ...opened, db };
    const files = folderFiles(folder);
    place.queue = await openJobQueue({
      ...{ database: place.database, files, log: folderLog(files), start: place.jobs.start },
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

  it('exclude a process that has the database alone', async () => {
    await open();
    await expect(scene.open()).rejects.toMatchObject({ code: 'database.in-use' });
    const alone = make();
    await using _database = await alone.open();
    await expect(alone.open(true)).rejects.toMatchObject({ code: 'database.in-use' });
  });
});
