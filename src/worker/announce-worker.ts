import type { Redis } from 'ioredis';
import { drainKey, workerKey, WORKERS_KEY } from '../sandboxes/fleet/fleet-keys.ts';
import type { WorkerRow } from '../sandboxes/fleet/worker-row.ts';

/** Renewals of a row in one lease. */
const RENEWALS = 3;

/** The row of a worker in its fleet. */
export interface Announced {
  /** Aborts when someone has asked this worker to drain. */
  readonly asked: AbortSignal;
  /** Writes the present row soon. */
  renew(): void;
  /** Removes the row. */
  leave(): Promise<void>;
}

/** Tells the fleet of a worker, and again before its row expires. */
export function announceWorker({
  redis,
  leaseMs,
  row,
}: {
  redis: Redis;
  leaseMs: number;
  row: () => WorkerRow;
}): Announced {
  const asked = new AbortController();
  const { name } = row();
  const write = async (): Promise<void> => {
    const [drain] = await Promise.all([
      redis.get(drainKey(name)),
      redis.sadd(WORKERS_KEY, name),
      redis.set(workerKey(name), JSON.stringify(row()), 'PX', leaseMs),
    ]);
    if (drain !== null) asked.abort();
  };
  // Without a connection the row expires, as it should.
  const renew = (): void => void write().catch(() => undefined);
  const timer = setInterval(renew, leaseMs / RENEWALS).unref();
  renew();
  return {
    asked: asked.signal,
    renew,
    async leave() {
      clearInterval(timer);
      await redis.del(workerKey(name), drainKey(name)).catch(() => undefined);
    },
  };
}
