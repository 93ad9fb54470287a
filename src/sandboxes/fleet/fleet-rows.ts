import type { Redis } from 'ioredis';
import { FLEET_NAME, KEY_PREFIX, WORKERS_KEY } from './fleet-keys.ts';
import { readWorkerRow, type WorkerRow } from './worker-row.ts';

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
