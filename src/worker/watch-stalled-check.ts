import type { Redis } from 'ioredis';
import { ENGINE } from '../sandboxes/fleet/demand.ts';
import { KEY_PREFIX } from '../sandboxes/fleet/fleet-keys.ts';

const LOOK_MS = 5_000;
/** The engine's key expires sooner. */
const MOST_MS: number = ENGINE.stalledInterval + LOOK_MS / 2;

/**
 * Removes the key of the engine's check for demands of dead workers, if it does not expire. The engine makes the check once the key has expired: after
 * the clock of Redis was set back, that would take as long as the clock was off.
 *
 * @param onRemoved called when the key is removed
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
