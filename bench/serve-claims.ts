import { jobResult } from '../src/jobs/result/job-result.ts';
import { jobRows } from '../src/queue/rows/job-rows.ts';
import type { Database } from '../src/registry/database/database.ts';
import { measurementOf, type Measurement } from './measurement.ts';
import { SYSTEMS, type ServePart } from './serve-scene.ts';
import { takeTurns, type Subject } from './take-turns.ts';

const ROUNDS = 5;
const WAITING = 100_000;
const USERS = 100;
const AT_ONCE = 500;
const CLAIMS = 100;
const REQUEST = '{"job":{},"files":[],"stdin":null}';

/** Claims and ends of jobs among 100,000 waiting ones of a hundred users, against two updates of a row by its key. */
export const serveClaims: ServePart = {
  ids: SYSTEMS.map((system) => `serve.claim100k.${system}`),
  async rows(scene, options) {
    const rows: Measurement[] = [];
    for (const system of SYSTEMS) {
      const [id, base] = [`serve.claim100k.${system}`, `serve.updates100k.${system}`];
      if (!options.wants(id)) continue;
      const database = await scene.database(system);
      await fill(database);
      options.progress(`${WAITING} waiting jobs in ${system}`);
      const subjects = [updated(base, database), claimed(id, database)];
      const values = await takeTurns(subjects, options.samples ?? ROUNDS, options.progress);
      const baseline = { id: base, values: values.get(base) ?? [] };
      rows.push(measurementOf({ id, unit: 'jobs/s', goal: 'ratio ≥ 0.4', values: values.get(id) ?? [], baseline }));
    }
    return rows;
  },
};

async function fill({ db }: Database): Promise<void> {
  for (let at = 0; at < WAITING; at += AT_ONCE) {
    const jobs = Array.from({ length: AT_ONCE }, (_, index) => ({
      ...{ id: `job-${at + index}`, user_id: (at + index) % USERS, kind: 'exec', state: 'waiting', attempt: 0 },
      ...{ created_at: 1, request_hash: '', request: REQUEST },
    }));
    await db
      .insertInto('jobs')
      .values(jobs as never)
      .execute();
  }
}

/** Claims a second, each with the end of the job. */
function claimed(id: string, database: Database): Subject {
  const rows = jobRows(database, { maxWaiting: WAITING, now: Date.now });
  return {
    id,
    sample: () =>
      perSecond(async () => {
        const row = await rows.claim();
        if (row === undefined) throw new Error('No job was claimed.');
        const accepted = { jobId: row.id, kind: row.kind, attempt: row.attempt };
        await rows.finish(row, jobResult({ accepted, ended: { outcome: 'succeeded' } }), null);
      }),
  };
}

/** The same changes of rows that are known. */
function updated(id: string, { db }: Database): Subject {
  let next = WAITING;
  return {
    id,
    sample: () =>
      perSecond(async () => {
        next -= 1;
        const key = `job-${next}`;
        const result = JSON.stringify(
          jobResult({ accepted: { jobId: key, kind: 'exec', attempt: 1 }, ended: { outcome: 'succeeded' } }),
        );
        const begun = { state: 'running', started_at: Date.now(), attempt: 1 } as const;
        await db.updateTable('jobs').set(begun).where('id', '=', key).returningAll().execute();
        const ended = { state: 'finished', outcome: 'succeeded', finished_at: Date.now(), result } as const;
        await db.updateTable('jobs').set(ended).where('id', '=', key).execute();
      }),
  };
}

async function perSecond(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  for (let made = 0; made < CLAIMS; made += 1) await work();
  return (CLAIMS * 1_000) / (performance.now() - started);
}
