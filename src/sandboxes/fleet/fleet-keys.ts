import * as z from 'zod/mini';
import type { Isolation } from '../../contracts/jobs/result.ts';

/** Prefix of all keys. Its braces keep them on one node of a cluster. */
export const KEY_PREFIX = 'skillcell:{fleet}';
/** Set of the names of all workers. Anyone may add a name; a name counts only with the row of that worker. */
export const WORKERS_KEY: string = `${KEY_PREFIX}:workers`;
/** Names of queues and workers. */
export const FLEET_NAME: RegExp = /^[a-z0-9-]{1,32}$/;
/** Schema of such a name. */
export const fleetNameSchema: z.ZodMiniString = z
  .string()
  .check(z.regex(FLEET_NAME, 'must be 1 to 32 of a-z, 0-9 and -'));

/** Key of the row of a worker. */
export function workerKey(worker: string): string {
  return `${KEY_PREFIX}:worker:${worker}`;
}

/** Key by which others ask a worker to drain. */
export function drainKey(worker: string): string {
  return `${KEY_PREFIX}:drain:${worker}`;
}

/** Stream of the entries to a worker, from all clients. */
export function toWorkerKey(worker: string): string {
  return `${KEY_PREFIX}:to:${worker}`;
}

/** Stream of the entries from a worker to a client. */
export function fromWorkerKey(worker: string, client: string): string {
  return `${KEY_PREFIX}:from:${worker}:${client}`;
}

/** Name of the queue of demands that a worker of this level and build may take. */
export function demandQueue(queue: string, isolation: Isolation, build: string): string {
  return `${queue}.${isolation}.${build}`;
}

/** The build of a runtime, by its digest: both ends must have the same. */
export function buildOf(digest: string): string {
  return digest.replace(/^sha256:/, '').slice(0, 8);
}
