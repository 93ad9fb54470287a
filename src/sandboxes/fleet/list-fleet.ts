import type { Redis } from 'ioredis';
import * as z from 'zod/mini';
import { checkOptions } from '../../contracts/checks/check-options.ts';
import type { Isolation } from '../../contracts/jobs/result.ts';
import { openQueue } from './demands.ts';
import { demandQueue, workerKey } from './fleet-keys.ts';
import { withFleet } from './with-fleet.ts';
import { readFleetRows, ROW_MS, type WorkerRow } from './worker-rows.ts';

/** Options of {@link listFleet}. */
export interface ListFleetOptions {
  /** Address of the Redis of the fleet: `rediss://USER:PASSWORD@HOST:PORT`. */
  url: string;
  /** Allows an address of another host without TLS. @default false */
  plain?: boolean;
}

/** A worker of a fleet. */
export interface ListedWorker {
  name: string;
  queue: string;
  isolation: Isolation;
  /** First digits of the digest of its runtime. Clients of another build do not use it. */
  build: string;
  /** Sandboxes that it runs at once. */
  slots: number;
  /** Sandboxes that it runs now. */
  running: number;
  /** Whether it takes no further demand. */
  draining: boolean;
  /** Milliseconds since its last beat. */
  beatMs: number;
}

/** A queue of demands for sandboxes, one for each queue, level and build of the workers. */
export interface ListedQueue {
  queue: string;
  isolation: Isolation;
  build: string;
  /** Demands that no worker has taken. */
  waiting: number;
  /** Milliseconds since the first of them was added; null if none waits. */
  oldestMs: number | null;
}

/** The workers of a fleet by name, and their queues. */
export interface ListedFleet {
  workers: ListedWorker[];
  queues: ListedQueue[];
}

const optionsSchema = z.strictObject({
  url: z.string().check(z.minLength(1)),
  plain: z.optional(z.boolean()),
}) as unknown as z.ZodMiniType<ListFleetOptions>;

/**
 * Lists the living workers of a fleet, and the demands that wait for them.
 *
 * @throws SkillcellError `options.invalid`, `fleet.refused`, `fleet.unavailable`; the reason of the signal
 * @example
 * ```ts
 * import { listFleet } from 'skillcell/fleet';
 *
 * const signal = AbortSignal.timeout(500);
 * const listing = listFleet({ url: 'redis://127.0.0.1:1' }, { signal });
 * await listing.catch((error: Error) => console.log(error.name));
 * // prints: TimeoutError
 * ```
 */
export async function listFleet(
  given: ListFleetOptions,
  { signal = new AbortController().signal }: { signal?: AbortSignal } = {},
): Promise<ListedFleet> {
  const options = checkOptions(optionsSchema, given, { action: 'list the fleet' });
  return await withFleet({ ...options, action: 'list the fleet', signal }, readFleet);
}

/** @throws errors of Redis */
export async function readFleet(redis: Redis): Promise<ListedFleet> {
  const rows = await readFleetRows(redis);
  const ofQueues = new Map(rows.map((row) => [demandQueue(row.queue, row.isolation, row.build), row]));
  return {
    workers: await Promise.all(rows.map((row) => listWorker(redis, row))),
    queues: await Promise.all([...ofQueues].map(([name, row]) => listQueue(redis, name, row))),
  };
}

async function listWorker(redis: Redis, row: WorkerRow): Promise<ListedWorker> {
  const { name, queue, isolation, build, slots, running, draining } = row;
  // The clocks of two hosts differ, so the time that its row has left counts.
  const beatMs = Math.max(0, ROW_MS - Math.max(0, await redis.pttl(workerKey(name))));
  return { name, queue, isolation, build, slots, running, draining, beatMs };
}

async function listQueue(redis: Redis, name: string, row: WorkerRow): Promise<ListedQueue> {
  const demands = await openQueue(name, redis);
  const waiting = await demands.getWaitingCount();
  const [oldest] = await demands.getWaiting(0, 0);
  await demands.close();
  const oldestMs = oldest === undefined ? null : Math.max(0, Date.now() - oldest.timestamp);
  return { queue: row.queue, isolation: row.isolation, build: row.build, waiting, oldestMs };
}
