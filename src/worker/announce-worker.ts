import type { Redis } from 'ioredis';
import { setTimeout as pause } from 'node:timers/promises';
import { SkillcellError } from '../contracts/errors/skillcell-error.ts';
import { drainKey, workerKey, WORKERS_KEY } from '../sandboxes/fleet/fleet-keys.ts';
import { throwRefusal } from '../sandboxes/fleet/fleet-error.ts';
import { readWorkerRow, type WorkerRow } from '../sandboxes/fleet/worker-rows.ts';

/** Renewals of a row in one lease. */
const RENEWALS = 3;
/** Pause between two looks at the row of another worker by the same name. */
const LOOK_MS = 500;

/** The row of a worker in its fleet. */
export interface Announced {
  /** Aborts when someone has asked this worker to drain. */
  readonly asked: AbortSignal;
  /** Writes the present row soon. */
  renew(): void;
  /** Removes the row. */
  leave(): Promise<void>;
}

/** Options of {@link announceWorker}. */
export interface AnnounceOptions {
  redis: Redis;
  leaseMs: number;
  row: () => WorkerRow;
  /** Called when another worker has taken the name, while this one had no connection for a lease. */
  onTaken(): void;
  signal: AbortSignal;
}

/**
 * Tells the fleet of a worker, and again before its row expires. Waits until the row of a worker that died by the same name has expired.
 *
 * @throws SkillcellError `options.invalid` if a living worker has the name; the reason of the signal
 */
export async function announceWorker({ redis, leaseMs, row, onTaken, signal }: AnnounceOptions): Promise<Announced> {
  const asked = new AbortController();
  const { name, since } = row();
  const key = workerKey(name);
  let isTaken = false;
  const write = async (): Promise<void> => {
    const [drain, held] = await Promise.all([redis.get(drainKey(name)), redis.get(key)]);
    if (drain !== null) asked.abort();
    isTaken ||= held !== null && readWorkerRow(held, name)?.since !== since;
    if (isTaken) return taken();
    await Promise.all([redis.sadd(WORKERS_KEY, name), redis.set(key, JSON.stringify(row()), 'PX', leaseMs)]);
  };
  const taken = (): void => {
    clearInterval(timer);
    asked.abort();
    onTaken();
  };
  await joinBy(name, {
    redis,
    leaseMs,
    signal,
    write: () => redis.set(key, JSON.stringify(row()), 'PX', leaseMs, 'NX'),
  });
  // Without a connection the row expires, as it should.
  let writing: Promise<void> = Promise.resolve();
  const renew = (): void => {
    if (!isTaken) writing = write().catch(() => undefined);
  };
  const timer = setInterval(renew, leaseMs / RENEWALS).unref();
  renew();
  return {
    asked: asked.signal,
    renew,
    async leave() {
      clearInterval(timer);
      // A row that is still being written would come after its removal.
      await writing;
      if (!isTaken) await redis.del(key, drainKey(name)).catch(() => undefined);
    },
  };
}

/** Writes the first row. */
async function joinBy(
  name: string,
  {
    redis,
    leaseMs,
    signal,
    write,
  }: Pick<AnnounceOptions, 'redis' | 'leaseMs' | 'signal'> & { write: () => Promise<'OK' | null> },
): Promise<void> {
  let found: string | null = null;
  const from = performance.now();
  // Without a connection it is tried again.
  while ((await write().catch(throwRefusal)) === null) {
    const held = await redis.get(workerKey(name)).catch(throwRefusal);
    found ??= held;
    // A worker that has died renews nothing.
    if (held !== null && held !== found) throw nameTaken(name);
    // The clock of Redis was set back, so the row of the dead worker would stay for as long.
    if (performance.now() - from > leaseMs + LOOK_MS) await redis.del(workerKey(name)).catch(throwRefusal);
    await pause(LOOK_MS, undefined, { signal });
  }
}

function nameTaken(name: string): SkillcellError {
  const message = `Cannot join the fleet: name must be free, got "${name}", which a living worker has.`;
  return new SkillcellError('options.invalid', message);
}
