import type { CallRow, CallTotal } from '../contracts/result.ts';

/** Rows that a result keeps; all calls are counted. */
export const KEPT_ROWS = 1_000;

/** The calls of one job. */
export interface CallRows {
  /** A call begins. Its row is filled in when it is answered. */
  begin(row: Pick<CallRow, 'id' | 'target' | 'name'>): CallRow;
  /** Counts a call that was answered. */
  count(row: CallRow): void;
  /** Calls in order of start, the first thousand. */
  readonly kept: CallRow[];
  /**
   * All calls by the id of their tool. In brackets, which no id has: `(model)`, `(host)` for what the agent asks the host itself, and
   * `(not allowed)` for all that the job does not have, since a program could make up names without end.
   */
  readonly totals: Record<string, CallTotal>;
}

const NOT_ALLOWED = '(not allowed)';

/** Creates the rows of one job. */
export function createCallRows(): CallRows {
  const kept: CallRow[] = [];
  const totals = new Map<string, CallTotal>();
  return {
    kept,
    begin(given) {
      const row: CallRow = { ...given, ok: false, durationMs: 0 };
      if (kept.length < KEPT_ROWS) kept.push(row);
      return row;
    },
    count({ target, name, ok, code, replayed }) {
      const key = target !== 'tool' ? `(${target})` : code === 'tool.not-allowed' ? NOT_ALLOWED : name;
      const total = totals.get(key) ?? { calls: 0, failed: 0, replayed: 0 };
      totals.set(key, total);
      total.calls += 1;
      if (!ok) total.failed += 1;
      if (replayed === true) total.replayed += 1;
    },
    get totals() {
      return Object.fromEntries(totals);
    },
  };
}
