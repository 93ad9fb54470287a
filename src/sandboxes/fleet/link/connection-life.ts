import type { Redis } from 'ioredis';
import type { Socket } from 'node:net';

/** Without an answer for so long, a connection counts as cut, and is opened anew. */
export const SILENCE_MS = 5_000;

/**
 * Asks for a sign of life, and cuts the connection without an answer.
 *
 * @throws the error of a connection that is cut
 */
export async function pingConnection(redis: Redis): Promise<void> {
  const watch = setTimeout(() => cutConnection(redis), SILENCE_MS).unref();
  try {
    await redis.ping();
  } finally {
    clearTimeout(watch);
  }
}

/** Pings a connection at intervals, while it is there. @returns ends the pings */
export function keepChecked(redis: Redis, everyMs: number): () => void {
  const timer = setInterval(() => {
    // A failure opens the connection anew.
    if (redis.status === 'ready') pingConnection(redis).catch(() => undefined);
  }, everyMs).unref();
  return () => clearInterval(timer);
}

/** Cuts a connection, even if the other side does not answer. It is opened anew. */
export function cutConnection(redis: Redis): void {
  partsOf(redis).stream?.destroy();
}

/** Lets this process end although there is a connection. */
export function leaveConnection(redis: Redis): void {
  redis.on('connect', () => partsOf(redis).stream?.unref());
  redis.on('reconnecting', () => partsOf(redis).reconnectTimeout?.unref());
}

/** Calls a function with each piece that arrives. */
export function onArrival(redis: Redis, take: (piece: Buffer) => void): void {
  redis.on('connect', () => partsOf(redis).stream?.on('data', take));
}

/** Parts of a connection that its types do not name. */
function partsOf(redis: Redis): { stream?: Socket; reconnectTimeout?: NodeJS.Timeout | null } {
  return redis as unknown as { stream?: Socket; reconnectTimeout?: NodeJS.Timeout | null };
}
