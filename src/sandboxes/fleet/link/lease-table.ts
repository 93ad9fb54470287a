import type { Duplex } from 'node:stream';
import * as z from 'zod/mini';
import { ENTRY_KIND, type EntryKind, isNumbered, type LinkEntry, NO_LEASE } from './entry.ts';
import type { FleetLink } from './fleet-link.ts';
import { readJson } from './read-json.ts';
import { createLeaseEnd, LEASE_WINDOW, type LeaseEnd } from './lease-end.ts';

/** Beats in one lease of silence. */
const BEATS = 3;
/** Pause between two looks at the clock. */
const LOOK_MS = 250;
/** Leases in one beat, so that it fits into an entry. */
const BEAT_LEASES = 500;
/** Answers about unknown leases between two looks at the clock, to each peer. Further ones are asked for again by its beats. */
const MOST_GONE: number = 2 * BEAT_LEASES;
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
  /** Whether the other side has all that was sent, or the lease is over. */
  readonly isSettled: boolean;
}

/** All leases of one client or one worker. */
export interface LeaseTable {
  /**
   * Opens a lease. Both sides have the same `leaseMs` for all leases that they share, from the client's demand.
   *
   * @throws Error if there is a lease of this id
   */
  open(lease: { id: string; client: string; peer: string | undefined; leaseMs: number }, calls: LeaseCalls): Lease;
  take(peer: string, entry: LinkEntry): void;
  /** Whether a lease is shared with a peer. */
  knows(peer: string): boolean;
  /** Most bytes that the stream of a peer may hold; without a peer, a stream of all of them. */
  mostBytes(peer?: string): number;
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
  /** Silence without a connection after which leases end; on the side of a client its clock stands. */
  downMs: number;
}

interface OpenLease {
  id: string;
  client: string;
  peer: string | undefined;
  leaseMs: number;
  end: LeaseEnd;
  calls: LeaseCalls;
  killReason: string | undefined;
}

/** A side that shares leases with this one. */
interface Peer {
  leases: Set<OpenLease>;
  leaseMs: number;
  heardAt: number;
  beatAt: number;
}

const position = z.number().check(z.int(), z.minimum(0));
const beatSchema = z.array(z.tuple([z.string().check(z.regex(/^[0-9a-f]{32}$/)), position, position, position]));

/**
 * Creates the table. Each pair that shares a lease exchanges beats with the positions of its leases. The silence of a peer ends its leases, measured
 * by the own monotonic clock while there is a connection.
 */
export function createLeaseTable({ link, streamTo, downMs }: LeaseTableOptions): LeaseTable {
  const leases = new Map<string, OpenLease>();
  const peers = new Map<string, Peer>();
  /** Answers about unknown leases since the last look. */
  const gone = new Map<string, number>();
  let lookedAt = performance.now();

  const write = (peer: string, entry: LinkEntry): void => link()?.write(streamTo(peer), entry);
  const tell = (
    peer: string,
    { client, id }: { client: string; id: string },
    kind: EntryKind,
    bytes = NO_BYTES,
  ): void => write(peer, { client, lease: id, kind, number: 0, bytes });
  const tellGone = (peer: string, lease: { client: string; id: string }): void => {
    const told = gone.get(peer) ?? 0;
    if (told >= MOST_GONE) return;
    gone.set(peer, told + 1);
    tell(peer, lease, ENTRY_KIND.gone);
  };
  const join = (name: string, lease: OpenLease): void => {
    const now = performance.now();
    const { leaseMs } = lease;
    const peer: Peer = peers.get(name) ?? { leases: new Set(), leaseMs, heardAt: now, beatAt: now };
    lease.peer = name;
    peers.set(name, peer);
    peer.leases.add(lease);
    peer.leaseMs = leaseMs;
  };
  const remove = (lease: OpenLease): boolean => {
    const peer = peers.get(lease.peer ?? '');
    peer?.leases.delete(lease);
    if (peer?.leases.size === 0) peers.delete(lease.peer ?? '');
    return leases.delete(lease.id);
  };
  const lost = (lease: OpenLease, reason: string): void => {
    if (leases.get(lease.id) !== lease) return;
    remove(lease);
    lease.calls.onLost(reason);
  };
  const lose = (name: string, reason: string): void => {
    for (const lease of [...(peers.get(name)?.leases ?? [])]) lost(lease, reason);
  };

  const beat = (name: string, peer: Peer): void => {
    peer.beatAt = performance.now();
    const own = [...peer.leases];
    const rows = own.map(({ id, end: { positions } }) => [id, positions.sent, positions.arrived, positions.consumed]);
    for (let at = 0; at < rows.length; at += BEAT_LEASES) {
      const bytes = Buffer.from(JSON.stringify(rows.slice(at, at + BEAT_LEASES)));
      write(name, { client: own[0]?.client ?? NO_LEASE, lease: NO_LEASE, kind: ENTRY_KIND.beat, number: 0, bytes });
    }
    for (const lease of own)
      if (lease.killReason !== undefined) tell(name, lease, ENTRY_KIND.kill, Buffer.from(lease.killReason));
  };
  const takeBeat = (peer: string, { client, bytes }: LinkEntry): void => {
    const rows = readJson(beatSchema, bytes);
    if (rows === undefined) return lose(peer, 'it sent a beat of no known form');
    for (const [id, sent, arrived, consumed] of rows) {
      const lease = leases.get(id);
      if (lease?.peer === peer) lease.end.compare({ sent, arrived, consumed });
      else tellGone(peer, { client, id });
    }
  };
  const look = (): void => {
    const now = performance.now();
    const stoodMs = now - lookedAt;
    lookedAt = now;
    gone.clear();
    const connection = link();
    const isUp = connection?.isUp === true;
    for (const [name, peer] of [...peers]) {
      // After a stop of this process or its machine, the entries that came meanwhile are not read yet.
      if (stoodMs > peer.leaseMs / 2) peer.heardAt = now;
      const silentMs = now - (isUp ? Math.max(peer.heardAt, connection.upSince) : peer.heardAt);
      if (silentMs > (isUp ? peer.leaseMs : downMs)) lose(name, `it was silent for ${Math.round(silentMs / 1_000)} s`);
      else if (now - peer.beatAt >= peer.leaseMs / BEATS) beat(name, peer);
    }
  };
  const looking = setInterval(look, LOOK_MS).unref();

  return {
    open({ id, client, peer, leaseMs }, calls) {
      if (leases.has(id)) throw new Error('Cannot open a lease: there is one of this id.');
      const lease: OpenLease = {
        ...{ id, client, peer, leaseMs, calls, killReason: undefined },
        end: createLeaseEnd({
          send(kind, number, bytes) {
            if (lease.peer !== undefined) write(lease.peer, { client, lease: id, kind, number, bytes });
          },
          onControl: (kind, bytes) => calls.onControl(kind, bytes, lease.peer ?? ''),
          onFault: (reason) => lost(lease, `it broke the rules of the link: ${reason}`),
        }),
      };
      leases.set(id, lease);
      if (peer !== undefined) join(peer, lease);
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
        forget() {
          if (leases.get(id) === lease) remove(lease);
        },
        get isSettled() {
          return leases.get(id) !== lease || lease.end.isSettled;
        },
      };
    },
    take(peer, entry) {
      const known = peers.get(peer);
      if (known !== undefined) known.heardAt = performance.now();
      if (entry.kind === ENTRY_KIND.beat) return takeBeat(peer, entry);
      const lease = leases.get(entry.lease);
      if (lease !== undefined && lease.peer === undefined && entry.kind === ENTRY_KIND.taken) join(peer, lease);
      if (lease === undefined || lease.peer !== peer) {
        if (entry.kind !== ENTRY_KIND.gone) tellGone(peer, { client: entry.client, id: entry.lease });
        return;
      }
      if (entry.kind === ENTRY_KIND.gone) return lost(lease, 'it does not know the sandbox');
      if (entry.kind === ENTRY_KIND.kill) return lease.calls.onKill?.(entry.bytes.toString());
      if (entry.kind === ENTRY_KIND.ask) return lease.calls.onAsk?.();
      if (entry.kind === ENTRY_KIND.counters) return lease.calls.onCounters?.(entry.bytes);
      if (isNumbered(entry.kind) || entry.kind === ENTRY_KIND.consumed || entry.kind === ENTRY_KIND.again)
        lease.end.take(entry.kind, entry.number, entry.bytes);
    },
    knows: (peer) => peers.has(peer),
    mostBytes(peer) {
      const count = peer === undefined ? leases.size : (peers.get(peer)?.leases.size ?? 0);
      return SPARE_BYTES + count * 2 * OVERHEAD * LEASE_WINDOW;
    },
    lose,
    beat: () => peers.forEach((peer, name) => beat(name, peer)),
    get size() {
      return leases.size;
    },
    close: () => clearInterval(looking),
  };
}
