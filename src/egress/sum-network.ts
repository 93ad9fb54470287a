import type { DeniedRequests, ResultNetwork } from '../contracts/network/result-network.ts';
import { DENIAL_REASONS } from '../contracts/network/denial-reasons.ts';
import type { EgressRow } from './worker/worker-messages.ts';

/** Kinds of denied requests in a result. */
const MOST_DENIED = 50;

/** The use of the network by a job or a run. */
export interface NetworkSum {
  add(row: EgressRow): void;
  addFault(message: string): void;
  readonly sum: ResultNetwork;
}

/** Creates an empty sum. */
export function sumNetwork(): NetworkSum {
  const sum = { requests: 0, bytesIn: 0, bytesOut: 0 };
  const secrets = new Set<string>();
  const denied = new Map<string, DeniedRequests>();
  const faults: string[] = [];
  let more = 0;
  return {
    add(row) {
      sum.bytesIn += row.bytesIn;
      sum.bytesOut += row.bytesOut;
      row.secrets.forEach((name) => secrets.add(name));
      const { reason, scheme, host, port, method, path } = row;
      if (reason === undefined || !Object.hasOwn(DENIAL_REASONS, reason)) {
        sum.requests += 1;
        return;
      }
      const kind = {
        ...{ reason: reason as DeniedRequests['reason'], scheme, host, port },
        ...(method === undefined ? {} : { method }),
        ...(path === undefined ? {} : { path }),
      };
      const key = JSON.stringify(kind);
      const known = denied.get(key);
      if (known !== undefined) known.count += 1;
      else if (denied.size < MOST_DENIED) denied.set(key, { ...kind, count: 1 });
      else more += 1;
    },
    addFault: (message) => void (faults.length < MOST_DENIED && faults.push(message)),
    get sum() {
      const { requests, bytesIn, bytesOut } = sum;
      const rows = Array.from(denied.values(), (row) => ({ ...row }));
      const counted = { requests, bytesIn, bytesOut, secrets: [...secrets].toSorted(), denied: rows, deniedMore: more };
      return faults.length === 0 ? counted : { ...counted, faults: [...faults] };
    },
  };
}
