import type { Redis } from 'ioredis';
import { setTimeout as pause } from 'node:timers/promises';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { drainKey, workerKey } from './fleet-keys.ts';
import { type FleetVisit, withFleet } from './with-fleet.ts';
import { readFleetRows, readWorkerRow } from './worker-rows.ts';

/** A worker that comes back later drains too. */
const ASK_SECONDS = 3_600;
/** Workers look every few seconds. */
const PATIENCE_MS = 20_000;
const LOOK_MS = 250;

/**
 * Asks a worker to take no further demand, and waits for its answer.
 *
 * @param name of the worker
 * @returns sandboxes that it still runs
 * @throws SkillcellError `options.invalid` if the fleet has no such worker, `runner.unavailable` if it does not answer; errors of {@link withFleet}
 */
export async function drainWorker(fleet: Omit<FleetVisit, 'action'>, name: string): Promise<number> {
  const action = `drain the worker ${name}`;
  return await withFleet({ ...fleet, action }, async (redis) => {
    const names = (await readFleetRows(redis)).map((row) => row.name);
    if (!names.includes(name)) {
      const known = names.length === 0 ? 'no worker' : `only ${names.join(', ')}`;
      throw new SkillcellError('options.invalid', `Cannot ${action}: the fleet has ${known}.`, {
        hint: '`skillcell fleet list` shows the workers.',
      });
    }
    await redis.set(drainKey(name), '1', 'EX', ASK_SECONDS);
    return await answerOf(redis, name, fleet.signal);
  });
}

async function answerOf(redis: Redis, name: string, signal: AbortSignal): Promise<number> {
  const from = performance.now();
  while (performance.now() - from < PATIENCE_MS) {
    const row = readWorkerRow((await redis.get(workerKey(name))) ?? '', name);
    if (row === undefined || row.draining) return row?.running ?? 0;
    await pause(LOOK_MS, undefined, { signal });
  }
  const message = `Cannot drain the worker ${name}: it did not answer within ${PATIENCE_MS / 1_000} s.`;
  throw new SkillcellError('runner.unavailable', message, {
    hint: 'It drains if it comes back within the hour. End its process on its host.',
  });
}
