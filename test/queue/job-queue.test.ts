import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createLogger } from '../../src/jobs/create-logger.ts';
import { SkillcellError } from '../../src/contracts/errors/skillcell-error.ts';
import { type JobQueue, openJobQueue } from '../../src/queue/job-queue.ts';
import { folderFiles } from '../../src/queue/seams/folder-files.ts';
import { folderLog } from '../../src/queue/seams/folder-log.ts';
import type { JobFiles } from '../../src/queue/seams/job-files.ts';
import { localDispatch } from '../../src/queue/seams/local-dispatch.ts';
import type { Database } from '../../src/registry/database/database.ts';
import { logLines } from '../fixtures/log-lines.ts';
import { type DatabaseScene, describeDatabases } from '../fixtures/databases.ts';
import { scriptedJobs } from '../fixtures/scripted-jobs.ts';
import { IS_SAMPLE } from '../fixtures/share.ts';
import { until } from '../fixtures/until.ts';

const ROUNDS = IS_SAMPLE ? 20 : 300;
const program = { kind: 'exec', code: 'console.log(1)' } as const;

interface OpenOptions {
  concurrency?: number;
  maxWaiting?: number;
  change?(db: Database['db']): Database['db'];
  /** @default that of a folder, which publishes nothing */
  publish?: JobFiles['publish'];
}

describeDatabases('a queue', (make) => {
  let scene: DatabaseScene;
  let database: Database;
  let queue: JobQueue;
  let jobs: ReturnType<typeof scriptedJobs>;
  let time: number;

  beforeEach(async () => {
    scene = make();
    time = 1_000_000;
    await open();
  });
  afterEach(async () => {
    await queue.close();
    await database.close();
  });

  /** Opens the database and the queue, as the next process does. */
  async function open({ change, publish, ...options }: OpenOptions = {}): Promise<void> {
    const opened = await scene.open();
    database = change === undefined ? opened : { ...opened, db: change(opened.db) };
    jobs = scriptedJobs();
    mkdirSync(join(scene.folder, 'jobs'), { recursive: true });
    const inFolder = folderFiles(join(scene.folder, 'jobs'));
    const files = publish === undefined ? inFolder : { ...inFolder, publish };
    queue = await openJobQueue({
      ...{ database, files, log: folderLog(files), dispatch: localDispatch(), start: jobs.start },
      resolve: async (request) => request,
      ...{ concurrency: 1, maxWaiting: 1_000, keepDays: 1, now: () => time },
      logger: createLogger({ destination: { write: () => undefined } }),
      ...options,
    });
  }

  /** A process that died: nothing of it is ended or recorded. Its orphaned work finds the database closed. */
  async function kill(): Promise<void> {
    await database.close();
  }

  const reopen = async (options: Parameters<typeof open>[0]): Promise<void> => {
    await queue.close();
    await database.close();
    await open(options);
  };
  const submit = (userId = 1, given: object = {}, key?: string): ReturnType<JobQueue['submit']> =>
    queue.submit({ userId, request: { ...program, ...given }, key });
  const started = (id: string): Promise<void> =>
    until(() => jobs.running.some((job) => job.id === id), `the start of ${id}`);
  const ended = async (id: string): ReturnType<JobQueue['wait']> =>
    await queue.wait(id, 20_000, AbortSignal.timeout(30_000));
  const eventsOf = (id: string): { type: string }[] =>
    (logLines(join(scene.folder, 'jobs', id)) ?? []).map((line) => JSON.parse(line) as { type: string });

  it('runs a job once, records its result, and then writes its last event', async () => {
    const { row, isNew } = await submit(1, {
      label: 'first',
      env: { KEY: 'value' },
      files: { 'a.txt': 'text' },
      stdin: 'in',
    });
    expect([isNew, row.state, row.label]).toEqual([true, 'waiting', 'first']);
    await started(row.id);
    const inside = join(scene.folder, 'jobs', row.id, 'in');
    expect(readdirSync(inside).map((name) => readFileSync(join(inside, name), 'utf8'))).toEqual(['text', 'in']);
    jobs.running[0]?.emit({ type: 'run', jobId: row.id, run: 1 });
    jobs.running[0]?.end();
    const end = await ended(row.id);
    expect(end).toMatchObject({ state: 'finished', outcome: 'succeeded', attempt: 1, error_code: null });
    await until(() => eventsOf(row.id).length === 2, 'the last event');
    expect(eventsOf(row.id).map(({ type }) => type)).toEqual(['run', 'finished']);
  });

  it('records a failure of the orchestrator as the result of the job, without a path of the host', async () => {
    const { row } = await submit();
    await started(row.id);
    const path = join(scene.folder, 'jobs', row.id, 'in', '0');
    jobs.running[0]?.fail(new SkillcellError('file.unreadable', `Cannot read ${path}.`));
    const end = await ended(row.id);
    expect([end?.outcome, end?.error_code]).toEqual(['failed', 'file.unreadable']);
    expect(JSON.parse(end?.result ?? '')).toMatchObject({ jobId: row.id, error: { name: 'file.unreadable' } });
    expect(end?.result).not.toContain(scene.folder);
  });

  it('takes the user with the fewest running jobs next, then the oldest job', async () => {
    await reopen({ concurrency: 2 });
    const ids: string[] = [];
    for (const userId of [1, 1, 1, 2, 3]) ids.push((await submit(userId)).row.id);
    const order: string[] = [];
    for (let at = 0; at < 5; at += 1) {
      await until(() => jobs.running.length === Math.min(2, 5 - at), 'the next jobs');
      for (const { id } of jobs.running) if (!order.includes(id)) order.push(id);
      jobs.running[0]?.end();
    }
    const [one, two, three, ofSecond, ofThird] = ids;
    // The first two start before the others are there.
    expect(order.slice(0, 2)).toEqual([one, two]);
    expect(order.slice(2)).toEqual([ofSecond, three, ofThird]);
  });

  it('claims no more jobs while many wait for a sandbox, so that another user comes next', async () => {
    await reopen({ concurrency: 50 });
    for (let job = 0; job < 20; job += 1) await submit(1);
    await until(() => jobs.running.length === 8, 'eight jobs');
    const { row: other } = await submit(2);
    const one = (at: number): string => jobs.running[at]?.id ?? '';
    const give = (id: string): void => {
      const about = { runner: 'local' as const, isolation: 'none' as const, warm: false, diagnostics: [] };
      jobs.running.find((job) => job.id === id)?.emit({ type: 'started', jobId: id, ...about });
    };
    give(one(0));
    await started(other.id);
    expect(jobs.running).toHaveLength(9);
    // While the model decides, a job needs no sandbox; then it waits for one again.
    const [deciding, next] = [one(1), one(2)];
    const prompt = { stage: 'decision', round: 1, promptSha256: '' } as const;
    jobs.running[1]?.emit({ type: 'prompt', jobId: deciding, ...prompt });
    await until(() => jobs.running.length === 10, 'the tenth job');
    const decision = { needsCode: true } as never;
    jobs.running.find((job) => job.id === deciding)?.emit({ type: 'decision', jobId: deciding, decision });
    give(next);
    give(deciding);
    await until(() => jobs.running.length === 11, 'the eleventh job');
    for (const job of [...jobs.running]) give(job.id);
    await until(() => jobs.running.length === 19, 'eight more');
    for (let left = jobs.running.length; left > 0; left = jobs.running.length) jobs.running[0]?.end();
  });

  it('gives equal jobs with one key one row, and refuses another job with it', async () => {
    const [first, second] = await Promise.all([submit(1, {}, 'k'), submit(1, {}, 'k')]);
    expect(second.row.id).toBe(first.row.id);
    expect([first, second].filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(readdirSync(join(scene.folder, 'jobs'))).toEqual([first.row.id]);
    await expect(submit(1, { stdin: 'other' }, 'k')).rejects.toMatchObject({ code: 'idempotency.mismatch' });
    expect((await submit(2, {}, 'k')).isNew).toBe(true);
  });

  it('accepts one of two equal jobs with one key, in any order', { timeout: 300_000 }, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const both = await Promise.all([submit(1, {}, `k${round}`), submit(1, {}, `k${round}`)]);
      expect(both.filter(({ isNew }) => isNew)).toHaveLength(1);
      expect(both[0].row.id).toBe(both[1].row.id);
    }
  });

  it('refuses more waiting jobs than allowed, even if they come at once, and keeps nothing of them', async () => {
    await reopen({ maxWaiting: 3 });
    const { row } = await submit();
    await started(row.id);
    const all = await Promise.allSettled(Array.from({ length: 8 }, () => submit()));
    const refused = all.flatMap((each) => (each.status === 'rejected' ? [each.reason as SkillcellError] : []));
    expect(refused.map(({ code }) => code)).toEqual(Array(5).fill('quota.exceeded'));
    expect(readdirSync(join(scene.folder, 'jobs'))).toHaveLength(4);
  });

  it('cancels a waiting job without a sandbox, and a running one with it', async () => {
    const { row: running } = await submit();
    await started(running.id);
    const { row: waiting } = await submit();
    expect(await queue.cancel(waiting, 'no longer needed')).toBe(true);
    expect(await ended(waiting.id)).toMatchObject({ outcome: 'canceled', attempt: 0 });
    expect(await queue.cancel(running, 'no longer needed')).toBe(true);
    const end = await ended(running.id);
    expect(JSON.parse(end?.result ?? '')).toMatchObject({
      outcome: 'canceled',
      error: { message: 'no longer needed' },
    });
    expect(await queue.cancel(running, 'again')).toBe(false);
  });

  it('has one end of a job that is canceled as it ends', { timeout: 300_000 }, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { row } = await submit();
      if (round % 3 > 0) await started(row.id);
      const [job] = jobs.running;
      const canceling = queue.cancel(row, 'race');
      if (round % 2 > 0) await new Promise((resolve) => setImmediate(resolve));
      job?.end();
      await canceling;
      const end = await ended(row.id);
      expect(['canceled', 'succeeded']).toContain(end?.outcome);
      await until(() => eventsOf(row.id).at(-1)?.type === 'finished', 'the last event');
      expect(eventsOf(row.id).filter(({ type }) => type === 'finished')).toHaveLength(1);
    }
  });

  it('claims the next job if the first one is canceled during its claim', { timeout: 300_000 }, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { row: running } = await submit();
      await started(running.id);
      const [first, next] = [(await submit()).row, (await submit()).row];
      jobs.running[0]?.end();
      for (let turn = 0; turn < round % 4; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      await queue.cancel(first, 'race');
      // No event but the end of the first job leads to this claim.
      await started(next.id);
      jobs.running.find(({ id }) => id === next.id)?.end();
      expect(['canceled', 'succeeded']).toContain((await ended(first.id))?.outcome);
      expect(await ended(next.id)).toMatchObject({ outcome: 'succeeded', attempt: 1 });
    }
  });

  it('starts jobs of a dead process again, and goes on with those that waited', async () => {
    const { row: running } = await submit();
    await started(running.id);
    jobs.running[0]?.emit({ type: 'accepted', jobId: running.id });
    const { row: waiting } = await submit();
    await until(() => eventsOf(running.id).length === 1, 'the first event');
    appendFileSync(join(scene.folder, 'jobs', running.id, 'events.1.jsonl'), '{"type":"output","tex');
    mkdirSync(join(scene.folder, 'jobs', running.id, 'artifacts'));
    mkdirSync(join(scene.folder, 'jobs', 'without-a-row'));
    await kill();
    await open();
    await started(running.id);
    expect(existsSync(join(scene.folder, 'jobs', running.id, 'artifacts'))).toBe(false);
    jobs.running[0]?.emit({ type: 'accepted', jobId: running.id });
    jobs.running[0]?.end();
    const end = await ended(running.id);
    expect(end).toMatchObject({ outcome: 'succeeded', attempt: 2 });
    expect(JSON.parse(end?.result ?? '')).toMatchObject({ attempt: 2, diagnostics: [{ code: 'sandbox.restarted' }] });
    await until(() => eventsOf(running.id).at(-1)?.type === 'finished', 'the last event');
    expect(eventsOf(running.id).map(({ type }) => type)).toEqual(['accepted', 'restarted', 'finished']);
    await started(waiting.id);
    jobs.running[0]?.end();
    expect(await ended(waiting.id)).toMatchObject({ outcome: 'succeeded', attempt: 1 });
    expect(existsSync(join(scene.folder, 'jobs', 'without-a-row'))).toBe(false);
  });

  it('ends a job of a dead process as lost once a tool may have changed something', async () => {
    const { row } = await submit();
    await started(row.id);
    await jobs.running[0]?.change('crm.note');
    await kill();
    await open();
    const end = await ended(row.id);
    expect(end).toMatchObject({ outcome: 'failed', error_code: 'job.host-lost' });
    expect(JSON.parse(end?.result ?? '')).toMatchObject({
      error: { name: 'job.host-lost', message: expect.stringContaining('a call of crm.note had begun') },
    });
    await until(() => eventsOf(row.id).at(-1)?.type === 'finished', 'the last event');
  });

  it('ends a job of a dead process as canceled if a user has canceled it', async () => {
    const { row } = await submit();
    await started(row.id);
    const scripted = jobs.running[0];
    // The process dies before the job has ended.
    scripted?.emit({ type: 'run', jobId: row.id, run: 1 });
    await database.db.updateTable('jobs').set({ cancel_reason: 'enough' }).where('id', '=', row.id).execute();
    await kill();
    await open();
    const end = await ended(row.id);
    expect(end).toMatchObject({ outcome: 'canceled', error_code: null });
    expect(end?.result).toContain('enough');
  });

  it('counts lost sandboxes and dead processes together, and gives a job three attempts', async () => {
    const { row } = await submit();
    await started(row.id);
    jobs.running[0]?.emit({ type: 'restarted', jobId: row.id, attempt: 2, reason: 'lost' });
    await until(async () => (await queue.rows.get(row.id))?.attempt === 2, 'the second attempt');
    await kill();
    await open();
    await started(row.id);
    expect(jobs.running[0]?.attempt).toBe(3);
    await kill();
    await open();
    const end = await ended(row.id);
    expect(end).toMatchObject({ outcome: 'failed', error_code: 'job.host-lost', attempt: 3 });
    expect(end?.result).toContain('attempt 3 was its last');
  });

  it('runs a job whose claim had no answer, once', async () => {
    await queue.close();
    await database.close();
    const claims = new WeakSet<object>();
    let lost = 0;
    await open({
      change: (db) =>
        db.withPlugin({
          transformQuery: ({ node, queryId }) => {
            // A claim is written as one statement of SQL.
            if (node.kind === 'RawNode' && lost === 0) claims.add(queryId);
            return node;
          },
          async transformResult({ result, queryId }) {
            // The change is made, and its answer is lost.
            if (claims.has(queryId) && lost++ === 0) throw new SkillcellError('database.unavailable', 'on purpose');
            return result;
          },
        }),
    });
    const { row } = await submit();
    await started(row.id);
    expect([lost, jobs.running.length]).toEqual([1, 1]);
    jobs.running[0]?.end();
    expect(await ended(row.id)).toMatchObject({ outcome: 'succeeded', attempt: 1 });
  });

  it('adds the last event if a crash came between it and the result', async () => {
    const { row } = await submit();
    await started(row.id);
    jobs.running[0]?.end();
    await ended(row.id);
    await until(() => eventsOf(row.id).length === 1, 'the last event');
    truncateSync(join(scene.folder, 'jobs', row.id, 'events.1.jsonl'), 20);
    const end = await queue.rows.get(row.id);
    if (end === undefined) return expect.unreachable();
    await Promise.all([queue.complete(end), queue.complete(end)]);
    expect(eventsOf(row.id).map(({ type }) => type)).toEqual(['finished']);
  });

  it('ends a job when its files are where others find them', async () => {
    const asked: unknown[] = [];
    const publish: JobFiles['publish'] = async (attempt, names) => {
      asked.push([attempt, names]);
      if (asked.length < 3) throw new SkillcellError('store.unavailable', 'on purpose');
    };
    await reopen({ publish });
    const { row } = await submit();
    await started(row.id);
    jobs.running[0]?.end();
    await until(() => asked.length === 2, 'two tries');
    expect((await queue.rows.summary(row.id))?.state).toBe('running');
    expect(await ended(row.id)).toMatchObject({ outcome: 'succeeded', attempt: 1 });
    expect(asked).toEqual(Array.from({ length: 3 }, () => [{ id: row.id, attempt: 1 }, ['stdout', 'stderr']]));
  });

  it('runs a job anew with the same files', async () => {
    const { row } = await submit(1, {
      files: { 'a.txt': 'text', 'b.bin': { base64: '/wA=', executable: true } },
      stdin: 'in',
    });
    await started(row.id);
    await expect(queue.remove(row.id)).resolves.toBe(false);
    jobs.running[0]?.end();
    await ended(row.id);
    const again = await queue.rerun(row, 7);
    expect([again.rerun_of, again.user_id, again.request]).toEqual([row.id, 7, row.request]);
    expect(readFileSync(join(scene.folder, 'jobs', again.id, 'in', '1'))).toEqual(Buffer.from([0xff, 0]));
    expect(await queue.remove(row.id)).toBe(true);
    expect(existsSync(join(scene.folder, 'jobs', row.id))).toBe(false);
  });

  it('removes finished jobs after their days, with their files', async () => {
    const { row } = await submit();
    await started(row.id);
    jobs.running[0]?.end();
    await ended(row.id);
    time += 25 * 60 * 60 * 1_000;
    await reopen({});
    expect(await queue.rows.get(row.id)).toBeUndefined();
    expect(readdirSync(join(scene.folder, 'jobs'))).toEqual([]);
  });

  it('at its end refuses new jobs, lets running ones end, and cancels those that take too long', async () => {
    await reopen({ concurrency: 2 });
    const [quick, slow] = [(await submit()).row, (await submit()).row];
    await until(() => jobs.running.length === 2, 'both jobs');
    const { row: waiting } = await submit();
    const closing = queue.close(200);
    await expect(submit()).rejects.toMatchObject({ code: 'service.unavailable' });
    jobs.running.find(({ id }) => id === quick.id)?.end();
    await closing;
    const outcomes = await Promise.all(
      [quick, slow, waiting].map(async ({ id }) => (await queue.rows.get(id))?.outcome),
    );
    expect(outcomes).toEqual(['succeeded', 'canceled', null]);
  });
});
