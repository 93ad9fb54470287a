import type { Duplex } from 'node:stream';
import * as z from 'zod/mini';
import { ENTRY_KIND, type EntryKind, isNumbered, type LinkEntry, NO_LEASE } from './entry.ts';
import type { FleetLink } from './fleet-link.ts';
import { createLeaseEnd, LEASE_WINDOW, type LeaseEnd } from './lease-end.ts';

/** Beats in one lease of silence, and looks at the clock. */
const BEATS = 3;
const LOOKS = 6;
/** Bytes that entries take in Redis beside their own. */
const OVERHEAD = 2;
const SPARE_BYTES: number = 4 * 1024 * 1024;
const NO_BYTES: Buffer = Buffer.alloc(0);

/** Calls of a lease. */
export interface LeaseCalls {
  /** A numbered entry but data, once and in order. */
  onControl(kind: EntryKind, bytes: Buffer, peer: string): void;
  /** The client ends the sandbox. */
  onKill?(reason: string): void;
  /** The client asks for the counters of the sandbox. */
  onAsk?(): void;
  /** The worker tells them. */
  onCounters?(bytes: Buffer): void;
  /** The other side is gone, silent, or breaks the rules. Called at most once; the lease is over then. */
  onLost(reason: string): void;
}

/** A lease of this side. */
export interface Lease {
  readonly id: string;
  readonly channel: Duplex;
  /** The other side; undefined until a worker has taken the demand. */
  readonly peer: string | undefined;
  /** Sends a numbered entry. */
  control(kind: EntryKind, bytes?: Buffer): void;
  /** Sends an entry that may be lost. */
  tell(kind: EntryKind, bytes?: Buffer): void;
  /** Asks for the end of the sandbox, again with each beat until the lease is over. */
  kill(reason: string): void;
  /** Ends the lease on this side; its later entries are answered by `gone`. */
  forget(): void;
  /** Whether the other side has all that was sent. */
  readonly isSettled: boolean;
}

/** All leases of one client or one worker. */
export interface LeaseTable {
  open(lease: { id: string; client: string; peer: string | undefined }, calls: LeaseCalls): Lease;
  take(peer: string, entry: LinkEntry): void;
  /** Most bytes that the stream of a peer may hold. */
  mostBytes(peer: string): number;
  /** Ends all leases of a peer. */
  lose(peer: string, reason: string): void;
  /** Tells all peers the positions, as there is a connection again. */
  beat(): void;
  readonly size: number;
  close(): void;
}

/** Options of {@link createLeaseTable}. */
export interface LeaseTableOptions {
  link(): Pick<FleetLink, 'write' | 'isUp' | 'upSince'> | undefined;
  /** Key of the stream to a peer. */
  streamTo(peer: string): string;
  leaseMs: number;
  /** Silence without a connection after which leases end; on the side of a client its clock stands. */
  downMs: number;
}

interface OpenLease {
  id: string;
  client: string;
  peer: string | undefined;
  end: LeaseEnd;
  calls: LeaseCalls;
  killReason: string | undefined;
}

const position = z.number().check(z.int(), z.minimum(0));
const beatSchema = z.array(z.tuple([z.string().check(z.regex(/^[0-9a-f]{32}$/)), position, position, position]));

/**
 * Creates the table. Each pair that shares a lease exchanges beats with the positions of its leases. The silence of a peer ends its leases, measured
 * by the own monotonic clock while there is a connection.
 */
export function createLeaseTable({ link, streamTo, leaseMs, downMs }: LeaseTableOptions): LeaseTable {
  const leases = new Map<string, OpenLease>();
  const heard = new Map<string, number>();
  let lookedAt = performance.now();
  /** The process itself, or its machine, stood still until then. */
  let stoodUntil = 0;

  const write = (peer: string, entry: LinkEntry): void => link()?.write(streamTo(peer), entry);
  const tell = (
    peer: string,
    { client, id }: { client: string; id: string },
    kind: EntryKind,
    bytes = NO_BYTES,
  ): void => write(peer, { client, lease: id, kind, number: 0, bytes });
  const of = (peer: string): OpenLease[] => [...leases.values()].filter((lease) => lease.peer === peer);
  const peers = (): Set<string> => new Set([...leases.values()].flatMap(({ peer }) => peer ?? []));
  const lost = (lease: OpenLease, reason: string): void => {
    if (!leases.delete(lease.id)) return;
    lease.calls.onLost(reason);
  };
  const lose = (peer: string, reason: string): void => of(peer).forEach((lease) => lost(lease, reason));

  const beat = (): void => {
    for (const peer of peers()) {
      const own = of(peer);
      const rows = own.map(({ id, end: { positions } }) => [id, positions.sent, positions.arrived, positions.consumed]);
      for (let at = 0; at < rows.length; at += 500) {
        const bytes = Buffer.from(JSON.stringify(rows.slice(at, at + 500)));
        write(peer, { client: own[0]?.client ?? NO_LEASE, lease: NO_LEASE, kind: ENTRY_KIND.beat, number: 0, bytes });
      }
      for (const lease of own)
        if (lease.killReason !== undefined) tell(peer, lease, ENTRY_KIND.kill, Buffer.from(lease.killReason));
    }
  };
  const takeBeat = (peer: string, { client, bytes }: LinkEntry): void => {
    const rows = readBeat(bytes);
    if (rows === undefined) return lose(peer, 'it sent a beat of no known form');
    for (const [id, sent, arrived, consumed] of rows) {
      const lease = leases.get(id);
      if (lease?.peer === peer) lease.end.compare({ sent, arrived, consumed });
      else tell(peer, { client, id }, ENTRY_KIND.gone);
    }
  };
  const look = (): void => {
    const now = performance.now();
    // After a stop of this process, what came meanwhile is not read yet.
    if (now - lookedAt > leaseMs / 2) stoodUntil = now;
    lookedAt = now;
    const connection = link();
    const isUp = connection?.isUp === true;
    for (const peer of peers()) {
      const last = heard.get(peer) ?? now;
      heard.set(peer, last);
      const since = isUp ? Math.max(last, connection?.upSince ?? 0, stoodUntil) : last;
      const most = isUp ? leaseMs : downMs;
      if (now - since > most) lose(peer, `it was silent for ${Math.round((now - since) / 1_000)} s`);
    }
    for (const peer of heard.keys()) if (of(peer).length === 0) heard.delete(peer);
  };
  const timers = [setInterval(beat, leaseMs / BEATS).unref(), setInterval(look, leaseMs / LOOKS).unref()];

  return {
    open({ id, client, peer }, calls) {
      const lease: OpenLease = {
        ...{ id, client, peer, calls, killReason: undefined },
        end: createLeaseEnd({
          send(kind, number, bytes) {
            if (lease.peer !== undefined) write(lease.peer, { client, lease: id, kind, number, bytes });
          },
          onControl: (kind, bytes) => calls.onControl(kind, bytes, lease.peer ?? ''),
          onFault: (reason) => lost(lease, `it broke the rules of the link: ${reason}`),
        }),
      };
      leases.set(id, lease);
      if (peer !== undefined) heard.set(peer, performance.now());
      return {
        id,
        channel: lease.end.channel,
        get peer() {
          return lease.peer;
        },
        control: (kind, bytes) => lease.end.control(kind, bytes),
        tell(kind, bytes) {
          if (lease.peer !== undefined) tell(lease.peer, lease, kind, bytes);
        },
        kill(reason) {
          lease.killReason = reason;
          if (lease.peer !== undefined) tell(lease.peer, lease, ENTRY_KIND.kill, Buffer.from(reason));
        },
        forget: () => void leases.delete(id),
        get isSettled() {
          return lease.end.isSettled;
        },
      };
    },
    take(peer, entry) {
      heard.set(peer, performance.now());
      if (entry.kind === ENTRY_KIND.beat) return takeBeat(peer, entry);
      const lease = leases.get(entry.lease);
      if (lease !== undefined && lease.peer === undefined && entry.kind === ENTRY_KIND.taken) lease.peer = peer;
      if (lease === undefined || lease.peer !== peer) {
        if (entry.kind !== ENTRY_KIND.gone) tell(peer, { client: entry.client, id: entry.lease }, ENTRY_KIND.gone);
        return;
      }
      if (entry.kind === ENTRY_KIND.gone) return lost(lease, 'it does not know the sandbox');
      if (entry.kind === ENTRY_KIND.kill) return lease.calls.onKill?.(entry.bytes.toString());
      if (entry.kind === ENTRY_KIND.ask) return lease.calls.onAsk?.();
      if (entry.kind === ENTRY_KIND.counters) return lease.calls.onCounters?.(entry.bytes);
      if (isNumbered(entry.kind) || entry.kind === ENTRY_KIND.consumed || entry.kind === ENTRY_KIND.again)
        lease.end.take(entry.kind, entry.number, entry.bytes);
    },
    mostBytes: (peer) => SPARE_BYTES + of(peer).length * 2 * OVERHEAD * LEASE_WINDOW,
    lose,
    beat,
    get size() {
      return leases.size;
    },
    close: () => timers.forEach(clearInterval),
  };
}

function readBeat(bytes: Buffer): [string, number, number, number][] | undefined {
  try {
    return z.parse(beatSchema, JSON.parse(bytes.toString()));
  } catch {
    return undefined;
  }
}
