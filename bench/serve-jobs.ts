import fastify from 'fastify';
import type { Database } from '../src/registry/database/database.ts';
import { measurementOf, type Measurement, timedRow } from './measurement.ts';
import { SYSTEMS, type ServePart, type ServeScene, type System } from './serve-scene.ts';
import { takeTurns, type Subject } from './take-turns.ts';

const SAMPLES = 30;
const ROUNDS = 3;
const CALLERS = 8;
const JOBS = 48;
const JOB = { kind: 'exec', code: 'console.log(6 * 7)' } as const;
const SETTLE_MS = 50;

/** One job and many, against a bare route with the same work, and against the orchestrator without a service. */
export const serveJobs: ServePart = {
  ids: SYSTEMS.flatMap((system) => [`serve.job.${system}`, `serve.sustained.${system}`]),
  async rows(scene, options) {
    const rows: Measurement[] = [];
    for (const system of SYSTEMS) {
      const [job, sustained] = [`serve.job.${system}`, `serve.sustained.${system}`];
      if (![job, sustained].some(options.wants)) continue;
      const service = await scene.service(system);
      const served = async (): Promise<boolean> => {
        const headers = { 'content-type': 'application/json', prefer: 'wait=60' };
        const answer = await service.fetch('/jobs', { method: 'POST', headers, body: JSON.stringify(JOB) });
        return is42((await answer.json()) as Result);
      };
      if (options.wants(job)) {
        const bare = await startBareRoute(scene, system);
        const asked = async (): Promise<boolean> => {
          const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(JOB) };
          return is42((await (await fetch(bare.url, init)).json()) as Result);
        };
        const subjects = [timed(`route.${system}`, scene, asked), timed(job, scene, served)];
        const values = await takeTurns(subjects, options.samples ?? SAMPLES, options.progress);
        await bare.close();
        rows.push(timedRow(values, { id: job, goal: 'ratio ≤ 1.3', baseline: `route.${system}` }));
      }
      if (options.wants(sustained)) {
        const executed = async (): Promise<boolean> => is42(await scene.orchestrator.exec(JOB));
        const subjects = [rate('exec', executed), rate(sustained, served)];
        const values = await takeTurns(subjects, options.samples ?? ROUNDS, options.progress);
        rows.push(
          measurementOf({
            ...{ id: sustained, unit: 'jobs/s', goal: 'ratio ≥ 0.9', values: values.get(sustained) ?? [] },
            baseline: { id: 'exec', values: values.get('exec') ?? [] },
          }),
        );
      }
    }
    return rows;
  },
};

type Result = { stdout?: { text: string } };

function is42({ stdout }: Result): boolean {
  return stdout?.text === '42\n';
}

/** A route that inserts a row, runs the job, and updates the row. */
async function startBareRoute(
  { orchestrator, database }: ServeScene,
  system: System,
): Promise<{ url: string; close(): Promise<void> }> {
  const { db }: Database = await database(system);
  const app = fastify();
  let jobs = 0;
  app.post('/jobs', async (request) => {
    const id = `job-${(jobs += 1)}`;
    const job = request.body as typeof JOB;
    const row = {
      id,
      user_id: 1,
      kind: 'exec',
      state: 'running',
      attempt: 1,
      request_hash: '',
      created_at: Date.now(),
    } as const;
    await db
      .insertInto('jobs')
      .values({ ...row, request: JSON.stringify(job) })
      .execute();
    const result = await orchestrator.exec(job);
    const ended = { state: 'finished', outcome: result.outcome, finished_at: Date.now() } as const;
    await db
      .updateTable('jobs')
      .set({ ...ended, result: JSON.stringify(result) })
      .where('id', '=', id)
      .execute();
    return result;
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return { url: `${url}/jobs`, close: () => app.close() };
}

function timed(id: string, { orchestrator }: ServeScene, call: () => Promise<boolean>): Subject {
  return {
    id,
    async prepare() {
      await orchestrator.warm();
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    },
    async sample() {
      const started = performance.now();
      const isRight = await call();
      const taken = performance.now() - started;
      if (!isRight) throw new Error(`Cannot measure ${id}: the job did not print 42.`);
      return taken;
    },
  };
}

/** Jobs a second, by callers without a pause. */
function rate(id: string, call: () => Promise<boolean>): Subject {
  return {
    id,
    async sample() {
      const started = performance.now();
      let left = JOBS;
      const caller = async (): Promise<void> => {
        while ((left -= 1) >= 0) if (!(await call())) throw new Error(`Cannot measure ${id}: a job did not print 42.`);
      };
      await Promise.all(Array.from({ length: CALLERS }, caller));
      return (JOBS * 1_000) / (performance.now() - started);
    },
  };
}
