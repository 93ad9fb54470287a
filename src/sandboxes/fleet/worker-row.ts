import * as z from 'zod/mini';
import { ISOLATION_LEVELS, type Isolation } from '../../contracts/jobs/result.ts';
import type { RunnerReport } from '../runner.ts';
import { FLEET_NAME } from './fleet-keys.ts';

/** A row expires so long after its worker has written it. */
export const ROW_MS = 15_000;

/** A worker of a fleet, as it describes itself. */
export interface WorkerRow {
  name: string;
  queue: string;
  isolation: Isolation;
  /** First digits of the digest of its runtime. */
  build: string;
  languages: string[];
  /** Sandboxes that it runs at once. */
  slots: number;
  /** Sandboxes that it runs now. */
  running: number;
  draining: boolean;
  /** Start of the worker and time of this row, in milliseconds since 1970 by its own clock. */
  since: number;
  at: number;
  limits: RunnerReport['limits'];
}

const name = z.string().check(z.regex(FLEET_NAME));
const count = z.number().check(z.int(), z.minimum(0), z.maximum(1_000_000));
const time = z.number().check(z.int(), z.minimum(0));
const enforcement = z.enum(['kernel', 'watched', 'none']);
const schema = z.strictObject({
  name,
  queue: name,
  isolation: z.enum(ISOLATION_LEVELS as unknown as [string, ...string[]]),
  build: z.string().check(z.regex(/^[0-9a-f]{8}$/)),
  languages: z.array(z.string().check(z.maxLength(32))).check(z.maxLength(100)),
  slots: count,
  running: count,
  draining: z.boolean(),
  since: time,
  at: time,
  limits: z.strictObject({
    memory: enforcement,
    cpus: enforcement,
    pids: enforcement,
    workspace: enforcement,
    inodes: enforcement,
  }),
}) as unknown as z.ZodMiniType<WorkerRow>;

/** Reads the row of a worker. Another worker may have written anything; undefined if it is no row of this name. */
export function readWorkerRow(text: string, worker: string): WorkerRow | undefined {
  try {
    const row = z.parse(schema, JSON.parse(text));
    return row.name === worker ? row : undefined;
  } catch {
    return undefined;
  }
}
