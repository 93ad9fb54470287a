import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { setTimeout as pause } from 'node:timers/promises';
import { withinDeadline } from '../../protocol/within-deadline.ts';
import type { Demand } from './demand.ts';
import { KEY_PREFIX } from './fleet-keys.ts';

/** Pause between two looks at a demand that was not taken. */
const LOOK_MS = 2_000;
/** Most time to remove a demand that is over. */
const REMOVAL_MS = 1_000;
/** Failed demands that the engine keeps, so that their clients see the failure. */
const KEPT_FAILURES = 1_000;
const LEASE_OF_DEMAND = 'sandbox';
/** States of a demand that no worker will take, and none has. */
const OVER: ReadonlySet<string> = new Set(['unknown', 'failed', 'completed']);

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
  /**
   * Adds a demand, and adds it again when the engine does not know it, or gave it to a worker that says nothing for a lease. Resolves when it is
   * over.
   */
  place(wanted: WantedDemand): Promise<void>;
  close(): Promise<void>;
}

/** @param redis fails at once while there is no connection */
export function createDemands(redis: Redis): Demands {
  const queues = new Map<string, Promise<Queue>>();
  const queueOf = (name: string): Promise<Queue> => {
    const known = queues.get(name);
    if (known !== undefined) return known;
    const opening = openQueue(name, redis);
    queues.set(name, opening);
    // It is opened anew when there is a connection.
    opening.catch(() => queues.delete(name));
    return opening;
  };
  const remove = async (name: string, { lease }: Demand): Promise<void> => {
    // A demand that a worker has taken is locked, and stays.
    await (await queueOf(name)).remove(lease).catch(() => undefined);
  };
  return {
    async place({ queue: name, renew, taken, canceled }) {
      const over = AbortSignal.any([taken, canceled]);
      let demand: Demand | undefined;
      /** Time since which a worker has it, as the engine says. */
      let activeSince: number | undefined;
      const look = async (): Promise<void> => {
        const queue = await queueOf(name);
        const state = demand === undefined ? 'unknown' : await queue.getJobState(demand.lease);
        const now = performance.now();
        activeSince = state === 'active' ? (activeSince ?? now) : undefined;
        const isSilent = demand !== undefined && now - (activeSince ?? now) > demand.leaseMs;
        if (over.aborted || (!OVER.has(state) && !isSilent)) return;
        activeSince = undefined;
        demand = renew();
        await queue.add(LEASE_OF_DEMAND, demand, { jobId: demand.lease });
      };
      while (!over.aborted) {
        await withinDeadline(look(), { signal: over }).catch(() => {
          // Without a connection, it is looked at again.
          activeSince = undefined;
        });
        await pause(LOOK_MS, undefined, { signal: over }).catch(() => undefined);
      }
      if (demand === undefined || taken.aborted) return;
      const removed = remove(name, demand).catch(() => undefined);
      await withinDeadline(removed, { limitMs: REMOVAL_MS, overdue: () => undefined });
    },
    async close() {
      await Promise.all([...queues.values()].map(closeQueue));
    },
  };
}

async function closeQueue(opening: Promise<Queue>): Promise<void> {
  // A queue that was not opened, or lost its connection, leaves nothing.
  await opening.then((queue) => queue.close()).catch(() => undefined);
}

/** Opens a queue of demands. The connection stays open when it is closed. */
export async function openQueue(name: string, redis: Redis): Promise<Queue> {
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
  try {
    await queue.waitUntilReady();
    return queue;
  } catch (error) {
    await queue.close().catch(() => undefined);
    throw error;
  }
}
