import { openDatabase } from '../src/registry/database/open-database.ts';
import { measurementOf, type Measurement, quantile } from './measurement.ts';
import { SYSTEMS, type BenchService, type ServePart, type ServeScene, type System } from './serve-scene.ts';
import { takeTurns, type Subject } from './take-turns.ts';

const ROUNDS = 10;
const REQUESTS = 20;
const MANY = 100_000;
const FEW = 1_000;
const AT_ONCE = 500;
/** Each word is in one of as many jobs. */
const WORDS = 100;
const PATHS = { list: '/jobs?limit=50', search: '/jobs?limit=50&q=report42' };
const GOALS = { list: 'ratio ≤ 1.5', search: 'ratio ≤ 10' };

/** Lists and searches among 100,000 jobs, against the same among 1,000. */
export const serveLists: ServePart = {
  ids: SYSTEMS.flatMap((system) => [`serve.list100k.${system}`, `serve.search100k.${system}`]),
  async rows(scene, options) {
    const rows: Measurement[] = [];
    for (const system of SYSTEMS) {
      const kinds = (['list', 'search'] as const).filter((kind) => options.wants(`serve.${kind}100k.${system}`));
      if (kinds.length === 0) continue;
      const [many, few] = [await filled(scene, system, MANY), await filled(scene, system, FEW)];
      options.progress(`${MANY} jobs in ${system}`);
      const subjects = kinds.flatMap((kind) => [
        answered(`serve.${kind}1k.${system}`, few, PATHS[kind]),
        answered(`serve.${kind}100k.${system}`, many, PATHS[kind]),
      ]);
      const values = await takeTurns(subjects, options.samples ?? ROUNDS, options.progress);
      for (const kind of kinds) {
        const [id, base] = [`serve.${kind}100k.${system}`, `serve.${kind}1k.${system}`];
        const baseline = { id: base, values: values.get(base) ?? [] };
        rows.push(measurementOf({ id, unit: 'ms', goal: GOALS[kind], values: values.get(id) ?? [], baseline }));
      }
      await many.close();
      await few.close();
    }
    return rows;
  },
};

/** A service with finished jobs. */
async function filled(scene: ServeScene, system: System, count: number): Promise<BenchService> {
  const place = await scene.place(system);
  // The first start creates the tables and the admin.
  await (await scene.service(system, place)).close();
  {
    await using database = await openDatabase(place);
    const { db, storedWords } = database;
    for (let at = 0; at < count; at += AT_ONCE) {
      await db.transaction().execute(async (open) => {
        const jobs = Array.from({ length: AT_ONCE }, (_, number) => jobRow(at + number));
        const made = await open.insertInto('jobs').values(jobs).returning(['seq', 'id']).execute();
        const words = made.map(({ seq, id }) => ({
          rowid: seq,
          words: storedWords([id, 'exec', `report${seq % WORDS}`, `week${seq % 52}`]),
        }));
        await open.insertInto('job_words').values(words).execute();
      });
    }
  }
  return await scene.service(system, place);
}

function jobRow(number: number) {
  const times = { created_at: number, started_at: number, finished_at: Date.now() };
  const names = { id: `job-${number}`, user_id: 1, kind: 'exec', label: `report${number % WORDS}` } as const;
  const end = { state: 'finished', outcome: 'succeeded', attempt: 1, result: '{}' } as const;
  return { ...names, ...end, ...times, request_hash: '', request: '{"job":{},"files":[],"stdin":null}' };
}

/** The median time of many successive requests. */
function answered(id: string, service: BenchService, path: string): Subject {
  return {
    id,
    async sample() {
      const times: number[] = [];
      for (let made = 0; made < REQUESTS; made += 1) {
        const started = performance.now();
        const { items } = (await (await service.fetch(path)).json()) as { items: unknown[] };
        times.push(performance.now() - started);
        if (items.length < 10) throw new Error(`Cannot measure ${id}: ${items.length} jobs were listed.`);
      }
      return quantile(times, 0.5);
    },
  };
}
