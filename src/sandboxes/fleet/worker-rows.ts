import type { Redis } from 'ioredis';
import * as z from 'zod/mini';
import { ISOLATION_LEVELS, type Isolation } from '../../contracts/jobs/result.ts';
import type { RunnerReport } from '../runner.ts';
import { readJson } from './link/read-json.ts';
import { FLEET_NAME, fleetNameSchema, KEY_PREFIX, WORKERS_KEY } from './fleet-keys.ts';

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

const count = z.number().check(z.int(), z.minimum(0), z.maximum(1_000_000));
const time = z.number().check(z.int(), z.minimum(0));
const enforcement = z.enum(['kernel', 'watched', 'none']);
const schema = z.strictObject({
  name: fleetNameSchema,
  queue: fleetNameSchema,
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
  const row = readJson(schema, text);
  return row?.name === worker ? row : undefined;
}

/** A set of names that takes more memory is emptied: a living worker adds its name again. */
const MOST_NAMES_BYTES = 1024 * 1024;
/** A longer text is no row. */
const MOST_ROW_BYTES = 16 * 1024;

/**
 * Reads names and rows, and removes names without a row. In one step in Redis: any worker may write names and a row of any length, so both are
 * measured before they are sent here.
 */
const READ_ROWS = `
local key, prefix, most_names, most_row = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
if (redis.call('memory', 'usage', key, 'samples', '0') or 0) > most_names then redis.call('del', key) end
local rows = {}
for _, name in ipairs(redis.call('smembers', key)) do
  local row = #name <= 32 and redis.call('getrange', prefix .. name, 0, most_row) or ''
  if row == '' then redis.call('srem', key, name) end
  if row ~= '' and #row <= most_row then
    rows[#rows + 1] = name
    rows[#rows + 1] = row
  end
end
return rows`;

/** Reads the rows of all living workers, by name. Names without a row are removed: a living worker adds its name again. */
export async function readFleetRows(redis: Redis): Promise<WorkerRow[]> {
  const limits = [MOST_NAMES_BYTES, MOST_ROW_BYTES];
  const pairs = (await redis.eval(READ_ROWS, 1, WORKERS_KEY, `${KEY_PREFIX}:worker:`, ...limits)) as string[];
  const rows: WorkerRow[] = [];
  for (let at = 0; at < pairs.length; at += 2) {
    const [name = '', text = ''] = pairs.slice(at, at + 2);
    const row = FLEET_NAME.test(name) ? readWorkerRow(text, name) : undefined;
    if (row !== undefined) rows.push(row);
  }
  return rows.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
