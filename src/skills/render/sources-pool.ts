import type { SourceRow } from '../../contracts/skills/skill.ts';
import { normalizeUrl } from '../parse/normalize-url.ts';
import { isMissing, normalizeSourceRow } from '../parse/source-row.ts';

/** The sources of a turn while skills are merged into them. */
export interface SourcesPool {
  /** The rows, sorted by sid. */
  rows(): SourceRow[];
  /**
   * Merges the sources of one skill.
   *
   * @param sources rows of the skill, in the order of its file
   * @returns the pool's sid for each of the skill's own sids
   */
  merge(sources: readonly SourceRow[]): Map<number, number>;
}

/**
 * Makes a pool from the rows of a turn so far. They keep their sids and their values; only missing values are filled.
 * The rows given are not changed.
 *
 * @param initial rows of the pool
 * @returns the pool
 */
export function createSourcesPool(initial: readonly SourceRow[]): SourcesPool {
  const bySid = new Map<number, SourceRow>();
  const byUrl = new Map<string, number>();
  const byPath = new Map<string, number>();
  let highest = 0;
  for (const { sid } of initial) if (sid !== undefined) highest = Math.max(highest, sid);

  const index = (sid: number, row: SourceRow): void => {
    const { url, path } = keysOf(row);
    if (url !== undefined && !byUrl.has(url)) byUrl.set(url, sid);
    if (path !== undefined && !byPath.has(path)) byPath.set(path, sid);
  };
  const add = (row: SourceRow): number => {
    const sid = row.sid !== undefined && !bySid.has(row.sid) ? row.sid : highest + 1;
    highest = Math.max(highest, sid);
    const added = { ...row, sid };
    bySid.set(sid, added);
    index(sid, added);
    return sid;
  };
  const find = (row: SourceRow): number | undefined => {
    const { url, path } = keysOf(row);
    return (url === undefined ? undefined : byUrl.get(url)) ?? (path === undefined ? undefined : byPath.get(path));
  };
  const fill = (sid: number, row: SourceRow): void => {
    const known = bySid.get(sid);
    if (known === undefined) return;
    for (const [field, value] of Object.entries(row)) {
      if (field !== 'sid' && isMissing(known[field]) && !isMissing(value)) known[field] = value;
    }
    index(sid, known);
  };

  // Sorted by sid, so that of two rows for one page the lower sid is found, whatever their order.
  for (const row of initial.toSorted(bySidThenRest)) add(row);
  return {
    rows: () => [...bySid.values()].toSorted(bySidThenRest),
    merge(sources) {
      const map = new Map<number, number>();
      for (const source of sources) {
        // The file reader has already reported the faults of a row.
        const { row } = normalizeSourceRow(source);
        if (row.sid !== undefined && map.has(row.sid)) continue;
        const known = find(row);
        if (known !== undefined) fill(known, row);
        const sid = known ?? add(row);
        if (row.sid !== undefined) map.set(row.sid, sid);
      }
      return map;
    },
  };
}

/** Orders rows by sid, those without one last. */
function bySidThenRest(a: SourceRow, b: SourceRow): number {
  return (a.sid ?? Number.MAX_SAFE_INTEGER) - (b.sid ?? Number.MAX_SAFE_INTEGER);
}

function keysOf(row: SourceRow): { url: string | undefined; path: string | undefined } {
  const path = isMissing(row.physical_path) ? row['local_path'] : row.physical_path;
  return {
    url: typeof row.url === 'string' && row.url.trim() !== '' ? normalizeUrl(row.url).url : undefined,
    path: typeof path === 'string' && path.trim() !== '' ? path.trim() : undefined,
  };
}
