import type { CallRow, CallTotal } from '../../contracts/jobs/result.ts';

/** Rows that a result keeps; all calls are counted. */
export const KEPT_ROWS = 1_000;

/** The calls of one job. */
export interface CallRows {
  /**
   * A call begins. Its row is filled in when it is answered; until then it counts as failed, since the job may end before.
   *
   * @param isOffered whether the job has what is called
   */
  begin(row: Pick<CallRow, 'id' | 'target' | 'name'>, isOffered: boolean): CallRow;
  /** A call was answered as its row says. */
  answered(row: CallRow): void;
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
  /** Of calls that are not answered, what they count for. */
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
