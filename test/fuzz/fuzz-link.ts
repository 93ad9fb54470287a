import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { SeededRandom } from '../chaos/seeded-random.ts';
import { readCounters, readEnded, readOpened, readRefused } from '../../src/sandboxes/fleet/opened-sandbox.ts';
import {
  ENTRY_KIND,
  type EntryKind,
  type LinkEntry,
  packEntry,
  readEntry,
} from '../../src/sandboxes/fleet/link/entry.ts';
import { createLeaseTable, type Lease, type LeaseTable } from '../../src/sandboxes/fleet/link/lease-table.ts';
import { assertNotPolluted, mutated, settled, someBytes, someValue } from './fuzz-parts.ts';

const READERS = [readOpened, readEnded, readCounters, (bytes: Buffer) => readRefused(bytes, 'one')] as const;
const KINDS = Object.values(ENTRY_KIND) as [EntryKind, ...EntryKind[]];
const LEASE_MS = 600_000;
const CLIENT = 'c'.repeat(32);
const WORKER = 'one';

/** One side of the link. */
interface Side {
  table: LeaseTable;
  lease: Lease;
  losses: string[];
  sent: Buffer[];
  read: Buffer[];
  hasEnded: boolean;
}

/**
 * The link of a fleet. Entries that arrive late, twice or not at all give the same bytes; entries that another program has written give bytes or the
 * end of the lease, and nothing else.
 */
export async function fuzzLink(random: SeededRandom): Promise<void> {
  readWords(random);
  await talk(random);
  assertNotPolluted();
}

/** What a worker says of a sandbox is read, or is of no known form. */
function readWords(random: SeededRandom): void {
  const usage = { cpuMs: 1, maxRssBytes: null, oomKills: 0, pidsRefused: 0 };
  const words = [
    { isolation: 'namespace', warm: false, diagnostics: [{ code: 'a', severity: 'info', message: 'b' }] },
    { cause: 'exit', oom: null, code: 0, complaint: '', leaving: false, usage },
    { usage, memoryBytes: 1 },
    { code: 'sandbox.start-failed', message: 'No disk.' },
    someValue(random),
  ] as const;
  const bytes = Buffer.from(JSON.stringify(random.pick(words)));
  for (const read of READERS) read(random.between(0, 2) === 0 ? bytes : mutated(random, bytes));
}

/** What happens to an entry on its way. */
type Fate = 'carried' | 'lost' | 'twice' | 'changed' | 'made up';
/** Fates of entries: of a way without faults, of a bad way, and of another writer. */
const FATES: Record<'whole' | 'lossy' | 'forged', readonly [Fate, ...Fate[]]> = {
  whole: ['carried'],
  lossy: ['carried', 'carried', 'carried', 'carried', 'carried', 'twice', 'twice', 'lost'],
  forged: ['carried', 'carried', 'carried', 'carried', 'lost', 'twice', 'changed', 'changed', 'made up', 'made up'],
};
/** Steps after which a way without a forger has carried all. */
const MOST_STEPS = 1_000;

type End = 'client' | 'worker';

async function talk(random: SeededRandom): Promise<void> {
  const way = random.pick(['whole', 'whole', 'lossy', 'forged', 'forged', 'forged'] as const);
  let carried: { to: End; packed: Buffer }[] = [];
  const id = someBytes(random, 16).toString('hex');
  const open = (to: End, peer: string | undefined): Side => {
    const write = (_stream: string, entry: LinkEntry): void => void carried.push({ to, packed: packEntry(entry) });
    const link = { isUp: true, upSince: 0, write };
    const table = createLeaseTable({ link: () => link, streamTo: (name) => name, downMs: Infinity });
    const losses: string[] = [];
    const calls = { onControl: () => undefined, onLost: (reason: string) => void losses.push(reason) };
    const lease = table.open({ id, client: CLIENT, peer, leaseMs: LEASE_MS }, calls);
    const side: Side = { table, lease, losses, sent: [], read: [], hasEnded: false };
    lease.channel.on('data', (piece: Buffer) => void side.read.push(piece)).on('end', () => (side.hasEnded = true));
    return side;
  };
  const sides = { client: open('worker', undefined), worker: open('client', CLIENT) };
  const both = [sides.client, sides.worker] as const;
  sides.worker.lease.control(ENTRY_KIND.taken);
  for (const { lease, sent } of both) {
    for (let round = random.between(0, 4); round > 0; round -= 1)
      sent.push(someBytes(random, random.pick([0, 1, 1_000, 70_000, 300_000])));
    for (const bytes of sent) lease.channel.write(bytes);
    lease.channel.end();
  }
  const take = (to: End, packed: Buffer): void => {
    const entry = readEntry(packed);
    if (entry === undefined) return;
    if (to === 'client') sides.client.table.take(WORKER, entry);
    else sides.worker.table.take(entry.client, entry);
  };
  // Without it the client would not know the sandbox.
  for (const { to, packed } of carried.splice(0, 1)) take(to, packed);
  const isOver = (): boolean => both.every(({ losses, hasEnded }) => losses.length > 0 || hasEnded);
  for (let step = 0; step < (way === 'forged' ? 50 : MOST_STEPS) && !isOver(); step += 1) {
    const due = carried;
    carried = [];
    for (const { to, packed } of due) {
      const fate = random.pick(FATES[way]);
      if (fate === 'changed') take(to, mutated(random, packed));
      else if (fate === 'made up') take(to, madeUp(random, id));
      else for (let copy = { lost: 0, carried: 1, twice: 2 }[fate]; copy > 0; copy -= 1) take(to, packed);
    }
    await settled();
    // Lost entries are asked for again after a while.
    if (way === 'lossy') await pause(10);
    for (const { table } of both) table.beat();
  }
  for (const { table, lease, losses } of both) {
    table.close();
    lease.channel.destroy();
    assert.ok(losses.length <= 1, 'it was lost twice');
  }
  if (way === 'forged') return;
  for (const [from, to] of [both, [sides.worker, sides.client] as const]) {
    assert.deepEqual([to.losses, to.hasEnded], [[], true]);
    assert.ok(Buffer.concat(to.read).equals(Buffer.concat(from.sent)), 'the bytes arrived otherwise');
  }
}

/** An entry that a worker or a client could write by hand. */
function madeUp(random: SeededRandom, lease: string): Buffer {
  const bytes = random.pick([
    Buffer.alloc(0),
    someBytes(random, random.pick([1, 6, 1_000])),
    Buffer.from(JSON.stringify(someValue(random))),
    Buffer.from(JSON.stringify([[lease, random.pick([0, 5, 2 ** 40]), random.pick([0, 5, 2 ** 40]), 0]])),
  ]);
  const number = random.pick([0, 1, 5, 2 ** 40]);
  return packEntry({
    client: CLIENT,
    lease: random.pick([lease, '0'.repeat(32)]),
    kind: random.pick(KINDS),
    number,
    bytes,
  });
}
