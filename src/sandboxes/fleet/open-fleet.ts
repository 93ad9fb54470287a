import type { Logger } from 'pino';
import { ensureRuntime } from '../runtime-bundle.ts';
import { createDemands, type Demands } from './demands.ts';
import type { FleetAddress } from './fleet-address.ts';
import { buildOf, fromWorkerKey, toWorkerKey } from './fleet-keys.ts';
import { type FleetLink, openFleetLink } from './link/fleet-link.ts';
import { createLeaseTable, type LeaseTable } from './link/lease-table.ts';
import { readFleetRows, type WorkerRow } from './worker-rows.ts';

/** Pause between two reads of the workers' rows. */
export const ROWS_MS = 1_000;

/** The connection of a client to its fleet, with all that belongs to it. */
export interface OpenFleet {
  link: FleetLink;
  table: LeaseTable;
  demands: Demands;
  /** First digits of the digest of the client's runtime. */
  build: string;
  /** The living workers, at most two seconds old. */
  rows(): Promise<readonly WorkerRow[]>;
  /** Keeps this process alive until the returned function is called, once. */
  hold(): () => void;
  close(): Promise<void>;
}

/** Options of {@link openFleet}. */
export interface OpenFleetOptions {
  address: FleetAddress;
  /** Id of the client. */
  client: string;
  logger?: Logger | undefined;
}

/** Opens the connection. It reads the streams of all living workers while there is a lease. */
export async function openFleet({ address, client, logger }: OpenFleetOptions): Promise<OpenFleet> {
  const { digest } = await ensureRuntime();
  let rows: WorkerRow[] = [];
  let read: Promise<void> | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  let holds = 0;
  /** Workers by the key of their stream to this client. */
  const streams = new Map<string, string>();
  const table: LeaseTable = createLeaseTable({
    link: () => link,
    streamTo: toWorkerKey,
    downMs: Number.POSITIVE_INFINITY,
  });
  const link = await openFleetLink({
    address,
    streams: () => (table.size > 0 ? [...streams.keys()] : []),
    take(stream, entry) {
      const worker = streams.get(stream);
      if (worker !== undefined && entry.client === client) table.take(worker, entry);
    },
    mostBytes: (stream) => table.mostBytes(streams.get(stream) ?? ''),
    onFault: (stream, reason) => table.lose(streams.get(stream) ?? '', `its stream was deleted, as ${reason}`),
    onUp: () => table.beat(),
    onTrouble: (error) => logger?.warn({ err: error }, 'the fleet is not reached'),
  });
  const readRows = async (): Promise<void> => {
    rows = await readFleetRows(link.redis);
    readAt = performance.now();
    // Streams of a worker that has gone are read for as long as its sandboxes may speak.
    const living = new Set(rows.map((row) => row.name));
    for (const [stream, worker] of streams) if (!living.has(worker) && !table.knows(worker)) streams.delete(stream);
    for (const worker of living) streams.set(fromWorkerKey(worker, client), worker);
    link.wake();
  };
  const refresh = (): Promise<void> => (read ??= readRows().finally(() => (read = undefined)));
  const polling = setInterval(() => {
    // Only a taken demand brings entries of a new worker.
    if (link.isUp && table.size > 0) refresh().catch(() => undefined);
  }, ROWS_MS).unref();
  const demands = createDemands(link.redis);
  return {
    ...{ link, table, demands, build: buildOf(digest) },
    async rows() {
      if (performance.now() - readAt > 2 * ROWS_MS) await refresh();
      return rows;
    },
    hold() {
      link.hold((holds += 1) > 0);
      return () => link.hold((holds -= 1) > 0);
    },
    async close() {
      clearInterval(polling);
      table.close();
      await demands.close();
      await link.close();
    },
  };
}
