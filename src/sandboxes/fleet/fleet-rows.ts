import type { Redis } from 'ioredis';
import { FLEET_NAME, workerKey, WORKERS_KEY } from './fleet-keys.ts';
import { readWorkerRow, type WorkerRow } from './worker-row.ts';

/** Reads the rows of all living workers, by name. Names without a row are removed: a living worker adds its name again. */
export async function readFleetRows(redis: Redis): Promise<WorkerRow[]> {
  const names = (await redis.smembers(WORKERS_KEY)).toSorted();
  if (names.length === 0) return [];
  const wellFormed = names.filter((name) => FLEET_NAME.test(name));
  const texts = wellFormed.length === 0 ? [] : await redis.mget(wellFormed.map(workerKey));
  const rows = wellFormed.flatMap((name, index) => readWorkerRow(texts[index] ?? '', name) ?? []);
  const living = new Set(rows.map((row) => row.name));
  const dead = names.filter((name) => !living.has(name));
  if (dead.length > 0) await redis.srem(WORKERS_KEY, ...dead);
  return rows;
}
