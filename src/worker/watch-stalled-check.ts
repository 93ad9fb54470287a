import type { Redis } from 'ioredis';
import { ENGINE } from '../sandboxes/fleet/demand.ts';
import { KEY_PREFIX } from '../sandboxes/fleet/fleet-keys.ts';

const LOOK_MS = 5_000;
/** The engine's key expires sooner. */
const MOST_MS: number = ENGINE.stalledInterval + LOOK_MS / 2;

/**
 * The engine looks for demands of dead workers when a key of its has expired. If the clock of Redis is set back, that takes as long as the clock
 * was off, and such demands stay. Removes a key that does not expire.
 *
 * @param onRemoved called when it is removed
 * @returns ends the watch
 */
export function watchStalledCheck(redis: Redis, queue: string, onRemoved: () => void): () => void {
  const key = `${KEY_PREFIX}:${queue}:stalled-check`;
  let known: string | null = null;
  let knownSince = 0;
  const look = async (): Promise<void> => {
    // The time of the check, so each check has another value.
    const value = await redis.get(key);
    const now = performance.now();
    if (value !== known) [known, knownSince] = [value, now];
    if (value === null || now - knownSince < MOST_MS) return;
    await redis.del(key);
    onRemoved();
  };
  const timer = setInterval(() => {
    // Without a connection it is looked at again.
    look().catch(() => undefined);
  }, LOOK_MS).unref();
  return () => clearInterval(timer);
}
