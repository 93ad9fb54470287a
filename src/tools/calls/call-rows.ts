import type { CallRow, CallTotal } from '../../contracts/jobs/result.ts';

/** Most rows in a result; all calls are counted. */
export const KEPT_ROWS = 1_000;

/** The calls of one job. */
export interface CallRows {
  /**
   * Begins a call. Until the call is answered, its row counts as failed, because the job may end first.
   *
   * @param isOffered whether the job has the called tool
   */
  begin(row: Pick<CallRow, 'id' | 'target' | 'name'>, isOffered: boolean): CallRow;
  /** Counts a call as answered, by its row. */
  answered(row: CallRow): void;
  /** Calls in order of start, the first thousand. */
  readonly kept: CallRow[];
  /**
   * All calls by the id of their tool. Keys in brackets cannot be ids: `(model)`, `(host)` for the agent's own calls to the host,
   * and `(not allowed)` for all tools that the job does not have, because a program could invent any number of names.
   */
  readonly totals: Record<string, CallTotal>;
}

const NOT_ALLOWED = '(not allowed)';

/** Creates the rows of one job. */
export function createCallRows(): CallRows {
  const kept: CallRow[] = [];
  const totals = new Map<string, CallTotal>();
  /** Totals of the calls that are not answered yet. */
  const open = new Map<CallRow, CallTotal>();
  const totalOf = (key: string): CallTotal => {
    const total = totals.get(key) ?? { calls: 0, failed: 0, replayed: 0 };
    totals.set(key, total);
    return total;
  };
  return {
    kept,
    begin(given, isOffered) {
      const row: CallRow = { ...given, ok: false, durationMs: 0 };
      if (kept.length < KEPT_ROWS) kept.push(row);
      const { target, name } = given;
      const total = totalOf(target !== 'tool' ? `(${target})` : isOffered ? name : NOT_ALLOWED);
      total.calls += 1;
      total.failed += 1;
      open.set(row, total);
      return row;
    },
    answered(row) {
      const total = open.get(row);
      if (total === undefined) return;
      open.delete(row);
      if (row.ok) total.failed -= 1;
      if (row.replayed === true) total.replayed += 1;
    },
    get totals() {
      return Object.fromEntries([...totals].map(([key, total]) => [key, { ...total }]));
    },
  };
}
