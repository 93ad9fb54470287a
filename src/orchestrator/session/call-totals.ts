import { KEPT_ROWS } from '../../broker/call-rows.ts';
import type { CallRow, CallTotal } from '../../contracts/result.ts';

/** The calls of all runs of a session together. */
export interface SessionCalls {
  add(rows: readonly CallRow[], totals: Readonly<Record<string, CallTotal>>): void;
  /** The first thousand. */
  readonly rows: CallRow[];
  readonly totals: Record<string, CallTotal>;
}

/** Creates an empty sum. */
export function sumCalls(): SessionCalls {
  const rows: CallRow[] = [];
  const totals = new Map<string, CallTotal>();
  return {
    rows,
    get totals() {
      return Object.fromEntries(totals);
    },
    add(more, counted) {
      rows.push(...more.slice(0, Math.max(0, KEPT_ROWS - rows.length)));
      for (const [name, { calls, failed, replayed }] of Object.entries(counted)) {
        const before = totals.get(name) ?? { calls: 0, failed: 0, replayed: 0 };
        totals.set(name, {
          calls: before.calls + calls,
          failed: before.failed + failed,
          replayed: before.replayed + replayed,
        });
      }
    },
  };
}
