import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ENTRY_KIND, type EntryKind, type LinkEntry, NO_LEASE } from '../../../../src/sandboxes/fleet/link/entry.ts';
import { createLeaseTable, type Lease, type LeaseTable } from '../../../../src/sandboxes/fleet/link/lease-table.ts';

const LEASE_MS = 3_000;
const { taken, opened, data, gone, kill, beat, ask, consumed } = ENTRY_KIND;
const NO_BYTES = Buffer.alloc(0);
const someId = (): string => randomBytes(16).toString('hex');

/** A table without a Redis: what it writes is kept, and the test says whether there is a connection. */
interface Scene {
  table: LeaseTable;
  client: string;
  written: { stream: string; entry: LinkEntry }[];
  connection: { isUp: boolean; upSince: number };
  /** The calls of each lease, by its id. */
  calls: Map<string, string[]>;
  open(given?: { peer?: string; leaseMs?: number; id?: string }): Lease;
  take(peer: string, lease: string, kind: EntryKind, more?: { number?: number; bytes?: Buffer }): void;
  /** Entries of a kind that were written since the last look. */
  told(kind: EntryKind): LinkEntry[];
  lost(lease: Lease): string[];
}

const tables: LeaseTable[] = [];

function scene(downMs = Number.POSITIVE_INFINITY): Scene {
  const written: Scene['written'] = [];
  const connection = { isUp: true, upSince: 0 };
  const calls: Scene['calls'] = new Map();
  const client = someId();
  const table = createLeaseTable({
    link: () => ({ ...connection, write: (stream, entry) => void written.push({ stream, entry }) }),
    streamTo: (peer) => `to:${peer}`,
    downMs,
  });
  tables.push(table);
  return {
    ...{ table, client, written, connection, calls },
    open({ peer, leaseMs = LEASE_MS, id = someId() } = {}) {
      const own: string[] = [];
      calls.set(id, own);
      return table.open(
        { id, client, peer, leaseMs },
        {
          onControl: (kind, bytes, from) => own.push(`control ${kind} ${bytes.toString()} of ${from}`),
          onKill: (reason) => own.push(`kill ${reason}`),
          onAsk: () => own.push('ask'),
          onLost: (reason) => own.push(`lost: ${reason}`),
        },
      );
    },
    take: (peer, lease, kind, { number = 0, bytes = NO_BYTES } = {}) =>
      table.take(peer, { client, lease, kind, number, bytes }),
    told(kind) {
      const found = written.filter(({ entry }) => entry.kind === kind).map(({ entry }) => entry);
      written.length = 0;
      return found;
    },
    lost: (lease) => (calls.get(lease.id) ?? []).filter((call) => call.startsWith('lost')),
  };
}

const beatOf = (...rows: [string, number, number, number][]): { bytes: Buffer } => ({
  bytes: Buffer.from(JSON.stringify(rows)),
});

describe('createLeaseTable()', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] }));
  afterEach(() => {
    for (const table of tables.splice(0)) table.close();
    vi.useRealTimers();
  });

  it('the silence of a peer ends its leases, and no others', () => {
    const { table, open, take, lost } = scene();
    const silent = [open({ peer: 'a' }), open({ peer: 'a' })];
    const alive = open({ peer: 'b' });
    for (let step = 0; step < 8; step += 1) {
      vi.advanceTimersByTime(LEASE_MS / 4);
      take('b', NO_LEASE, beat, beatOf([alive.id, 0, 0, 0]));
    }
    for (const lease of silent) expect(lost(lease)).toEqual(['lost: it was silent for 3 s']);
    expect(lost(alive)).toEqual([]);
    expect(table.size).toBe(1);
    expect([table.knows('a'), table.knows('b')]).toEqual([false, true]);
  });

  it('a lease that no worker has taken has no silence', () => {
    const { open, lost } = scene();
    const waiting = open();
    vi.advanceTimersByTime(10 * LEASE_MS);
    expect(lost(waiting)).toEqual([]);
  });

  it('each lease counts the silence that its client has asked for', () => {
    const { open, lost } = scene();
    const [short, long] = [open({ peer: 'short', leaseMs: 1_000 }), open({ peer: 'long', leaseMs: 60_000 })];
    vi.advanceTimersByTime(2_000);
    expect([lost(short).length, lost(long).length]).toEqual([1, 0]);
    vi.advanceTimersByTime(60_000);
    expect(lost(long).length).toBe(1);
  });

  it('beats go to each peer three times in a lease, as its client has asked for it', () => {
    const { open, told, written } = scene();
    const [short, long] = [open({ peer: 'short', leaseMs: 3_000 }), open({ peer: 'long', leaseMs: 60_000 })];
    vi.advanceTimersByTime(2_800);
    expect(written.map(({ stream }) => stream)).toEqual(['to:short', 'to:short']);
    expect(told(beat).map(({ bytes }) => JSON.parse(bytes.toString()) as unknown)).toEqual([
      [[short.id, 0, 0, 0]],
      [[short.id, 0, 0, 0]],
    ]);
    vi.advanceTimersByTime(17_500);
    expect(told(beat).filter(({ bytes }) => bytes.includes(long.id)).length).toBe(1);
  });

  it('the clock stands without a connection, and gives one lease after it is back', () => {
    const { open, connection, lost } = scene();
    const lease = open({ peer: 'a' });
    vi.advanceTimersByTime(LEASE_MS - 500);
    connection.isUp = false;
    vi.advanceTimersByTime(100 * LEASE_MS);
    expect(lost(lease)).toEqual([]);
    Object.assign(connection, { isUp: true, upSince: performance.now() });
    vi.advanceTimersByTime(LEASE_MS);
    expect(lost(lease)).toEqual([]);
    vi.advanceTimersByTime(LEASE_MS / 2);
    expect(lost(lease).length).toBe(1);
  });

  it('on the side of a worker, leases end some time after the connection', () => {
    const { open, connection, lost } = scene(20_000);
    const lease = open({ peer: 'a' });
    connection.isUp = false;
    vi.advanceTimersByTime(19_000);
    expect(lost(lease)).toEqual([]);
    vi.advanceTimersByTime(2_000);
    expect(lost(lease).length).toBe(1);
  });

  it('a stop of the process itself is no silence of its peers', () => {
    const { open, lost } = scene();
    const lease = open({ peer: 'a' });
    vi.advanceTimersByTime(250);
    // The clock goes on, and no timer fires.
    const stop = performance.now() + 10 * LEASE_MS;
    vi.spyOn(performance, 'now').mockReturnValueOnce(stop);
    vi.advanceTimersToNextTimer();
    expect(lost(lease)).toEqual([]);
    vi.restoreAllMocks();
  });

  it('entries of unknown leases are answered by gone, which has no answer', () => {
    const { take, told, client } = scene();
    const unknown = someId();
    for (const kind of [taken, opened, data, kill, ask, consumed]) take('a', unknown, kind);
    const answers = told(gone);
    expect(answers.length).toBe(6);
    expect(answers[0]).toEqual({ client, lease: unknown, kind: gone, number: 0, bytes: NO_BYTES });
    take('a', unknown, gone);
    expect(told(gone)).toEqual([]);
    take('a', NO_LEASE, beat, beatOf([unknown, 1, 1, 1]));
    expect(told(gone).map(({ lease }) => lease)).toEqual([unknown]);
  });

  it('gone ends a lease, and later entries of it are answered by gone', () => {
    const { open, take, told, calls } = scene();
    const lease = open({ peer: 'a' });
    take('a', lease.id, gone);
    take('a', lease.id, gone);
    expect(calls.get(lease.id)).toEqual(['lost: it does not know the sandbox']);
    expect(lease.isSettled).toBe(true);
    take('a', lease.id, opened);
    expect(told(gone).length).toBe(1);
  });

  it('the first worker that says it has taken a lease has it, and others cannot speak for it', () => {
    const { open, take, calls, told } = scene();
    const lease = open();
    take('liar', lease.id, opened, { bytes: Buffer.from('forged') });
    take('liar', lease.id, gone);
    expect([lease.peer, calls.get(lease.id)]).toEqual([undefined, []]);
    take('honest', lease.id, taken);
    told(gone);
    const forged = [taken, opened, data, gone, kill, ask, consumed, ENTRY_KIND.exit];
    for (const kind of forged) take('liar', lease.id, kind, { bytes: Buffer.alloc(6) });
    take('liar', NO_LEASE, beat, beatOf([lease.id, 99, 99, 99]));
    expect(lease.peer).toBe('honest');
    expect(calls.get(lease.id)).toEqual([`control ${taken}  of honest`]);
    // All but its own gone are answered.
    expect(told(gone).length).toBe(forged.length);
    take('honest', lease.id, opened, { number: 1, bytes: Buffer.from('true') });
    expect(calls.get(lease.id)?.at(-1)).toBe(`control ${opened} true of honest`);
  });

  it('a kill is repeated with each beat until the lease is over', () => {
    const { open, told, take } = scene();
    const lease = open({ peer: 'a' });
    lease.kill('canceled');
    for (let beats = 0; beats < 4; beats += 1) {
      take('a', NO_LEASE, beat, beatOf([lease.id, 0, 0, 0]));
      const told1 = told(kill);
      expect(told1.map(({ bytes }) => bytes.toString())).toEqual(['canceled']);
      vi.advanceTimersByTime(LEASE_MS / 3);
    }
    lease.forget();
    told(kill);
    vi.advanceTimersByTime(LEASE_MS);
    expect(told(kill)).toEqual([]);
  });

  it('kills and questions of a client arrive, however often they are repeated', () => {
    const { open, take, calls } = scene();
    const lease = open({ peer: 'client' });
    take('client', lease.id, kill, { bytes: Buffer.from('why') });
    take('client', lease.id, kill, { bytes: Buffer.from('why') });
    take('client', lease.id, ask);
    expect(calls.get(lease.id)).toEqual(['kill why', 'kill why', 'ask']);
  });

  it.each([
    'no JSON',
    '{}',
    '[[]]',
    '[["x",0,0,0]]',
    `[["${someId()}",-1,0,0]]`,
    `[["${someId()}",0.5,0,0]]`,
    `[["${someId()}",1e400,0,0]]`,
    `[["${someId()}",0,0,0,0]]`,
  ])('the beat %s ends the leases of its sender only', (text) => {
    const { open, take, lost } = scene();
    const [own, other] = [open({ peer: 'liar' }), open({ peer: 'honest' })];
    take('liar', NO_LEASE, beat, { bytes: Buffer.from(text) });
    expect([lost(own).length, lost(other).length]).toEqual([1, 0]);
  });

  it('a fault ends one lease, and tells its reason', () => {
    const { open, take, lost } = scene();
    const [own, other] = [open({ peer: 'a' }), open({ peer: 'a' })];
    take('a', NO_LEASE, beat, beatOf([own.id, 0, 0, 2 ** 40], [other.id, 0, 0, 0]));
    expect(lost(own)).toEqual(['lost: it broke the rules of the link: it consumed what was not sent']);
    expect(lost(other)).toEqual([]);
  });

  it('a lease of an id that is there is refused', () => {
    const { open } = scene();
    const { id } = open({ peer: 'a' });
    expect(() => open({ peer: 'a', id })).toThrow('there is one of this id');
  });

  it('many leases of a peer go into several beats, each of which fits into an entry', () => {
    const { open, told } = scene();
    for (let count = 0; count < 1_201; count += 1) open({ peer: 'a' });
    vi.advanceTimersByTime(LEASE_MS / 3);
    const beats = told(beat);
    expect(beats.map(({ bytes }) => (JSON.parse(bytes.toString()) as unknown[]).length)).toEqual([500, 500, 201]);
    for (const { bytes } of beats) expect(bytes.length).toBeLessThan(64 * 1024);
  });
});
