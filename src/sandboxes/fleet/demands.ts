import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { setTimeout as pause } from 'node:timers/promises';
import type { Demand } from './demand.ts';
import { KEY_PREFIX } from './fleet-keys.ts';

/** Pause between two looks at a demand that was not taken. */
const LOOK_MS = 2_000;
/** Failed demands that the engine keeps, so that their clients see the failure. */
const KEPT_FAILURES = 1_000;
const LEASE_OF_DEMAND = 'sandbox';

/** A demand that may be added again. */
export interface WantedDemand {
  /** Name of the queue. */
  queue: string;
  /** Creates the demand under a new lease. The lease before is not wanted any more. */
  renew(): Demand;
  /** Aborts when a worker has taken it. */
  taken: AbortSignal;
  /** Aborts when its job is canceled. */
  canceled: AbortSignal;
}

/** Demands of one client. */
export interface Demands {
  /** Adds a demand, and adds it again as long as the engine does not know it. Resolves when it is over. */
  place(wanted: WantedDemand): Promise<void>;
  close(): Promise<void>;
}

/** @param redis fails at once while there is no connection */
export function createDemands(redis: Redis): Demands {
  const queues = new Map<string, Promise<Queue>>();
  const queueOf = (name: string): Promise<Queue> => {
    const known = queues.get(name) ?? openQueue(name, redis);
    queues.set(name, known);
    return known;
  };
  return {
    async place({ queue: name, renew, taken, canceled }) {
      const over = AbortSignal.any([taken, canceled]);
      const queue = await queueOf(name);
      let demand: Demand | undefined;
      while (!over.aborted) {
        try {
          if (demand === undefined || (await isUnknown(queue, demand))) {
            demand = renew();
            await queue.add(LEASE_OF_DEMAND, demand, { jobId: demand.lease });
          }
        } catch {
          // There is no connection, so it is looked at again.
        }
        await pause(LOOK_MS, undefined, { signal: over }).catch(() => undefined);
      }
      if (demand !== undefined && !taken.aborted) await queue.remove(demand.lease).catch(() => undefined);
    },
    async close() {
      await Promise.all([...queues.values()].map(async (queue) => await (await queue).close().catch(() => undefined)));
    },
  };
}

async function isUnknown(queue: Queue, { lease }: Demand): Promise<boolean> {
  const state = await queue.getJobState(lease);
  return state === 'unknown' || state === 'failed' || state === 'completed';
}

async function openQueue(name: string, redis: Redis): Promise<Queue> {
  const { Queue } = await import('bullmq');
  const queue = new Queue(name, {
    connection: redis,
    prefix: KEY_PREFIX,
    skipVersionCheck: true,
    skipMetasUpdate: true,
    skipWaitingForReady: true,
    defaultJobOptions: { removeOnComplete: true, removeOnFail: { count: KEPT_FAILURES } },
  });
  queue.on('error', () => undefined);
  return queue;
}
