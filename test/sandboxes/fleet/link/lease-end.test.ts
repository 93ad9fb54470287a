import { createHash, type Hash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ENTRY_BYTES, ENTRY_KIND, type EntryKind } from '../../../../src/sandboxes/fleet/link/entry.ts';
import { createLeaseEnd, type LeaseEnd, MOST_WAITING } from '../../../../src/sandboxes/fleet/link/lease-end.ts';
import { seededRandom, type SeededRandom } from '../../../chaos/seeded-random.ts';

const KIB = 1024;
const { data, end, taken, opened, refused, exit, consumed, again } = ENTRY_KIND;

/** An entry on its way to a side. */
interface Carried {
  to: Side;
  kind: EntryKind;
  number: number;
  bytes: Buffer;
  /** Time of its arrival. */
  at: number;
}

/** One end, what it has sent and received, and how its reader behaves. */
interface Side {
  end: LeaseEnd;
  /** Bytes of each numbered entry that it has sent. */
  sizes: number[];
  written: Hash;
  read: Hash;
  hasEnded: boolean;
  controlsSent: string[];
  controls: string[];
  faults: string[];
}

/** Sends through `send`, for a side without a carrier. */
function lonelySide(send: (kind: EntryKind, number: number, bytes: Buffer) => void = () => undefined): Side {
  const side: Side = {
    end: createLeaseEnd({
      send(kind, number, bytes) {
        if (kind < consumed) side.sizes[number] ??= bytes.length;
        send(kind, number, bytes);
      },
      onControl: (kind, bytes) => side.controls.push(`${kind} ${bytes.toString()}`),
      onFault: (reason) => side.faults.push(reason),
    }),
    sizes: [],
    written: createHash('sha256'),
    read: createHash('sha256'),
    hasEnded: false,
    controlsSent: [],
    controls: [],
    faults: [],
  };
  return side;
}

/** Two ends, joined by a carrier that loses, repeats, delays and reorders entries. */
function joinedSides(random: SeededRandom, { lossy }: { lossy: boolean }): { sides: [Side, Side]; carry(): void } {
  let carried: Carried[] = [];
  let now = 0;
  const into = (to: () => Side) => (kind: EntryKind, number: number, bytes: Buffer) => {
    const copies = lossy ? random.pick([0, 1, 1, 1, 1, 1, 1, 2]) : 1;
    const at = now + (lossy ? random.pick([0, 0, 0, 0, 1, 5]) : 0);
    for (let copy = 0; copy < copies; copy += 1)
      carried.push({ to: to(), kind, number, bytes: Buffer.from(bytes), at });
  };
  const first = lonelySide(into(() => second));
  const second = lonelySide(into(() => first));
  return {
    sides: [first, second],
    carry() {
      now += 1;
      vi.advanceTimersByTime(60);
      const due = carried.filter(({ at }) => at <= now);
      carried = carried.filter(({ at }) => at > now);
      for (const { to, kind, number, bytes } of due) to.end.take(kind, number, bytes);
      if (random.between(0, 9) > 0) return;
      // A beat, or a lost one.
      const [from, to] = random.pick([
        [first, second],
        [second, first],
      ]);
      to.end.compare({ ...from.end.positions });
    },
  };
}

/** Writes pieces of random sizes as the channel takes them, with control entries between them, and then ends it. */
async function write(side: Side, random: SeededRandom, bytes: number): Promise<void> {
  for (let left = bytes; left > 0;) {
    const size = Math.min(left, random.pick([1, 100, 5 * KIB, 64 * KIB, 200 * KIB]));
    const piece = Buffer.alloc(size, random.between(0, 255));
    left -= size;
    side.written.update(piece);
    if (!side.end.channel.write(piece)) await new Promise((resolve) => side.end.channel.once('drain', resolve));
    if (random.between(0, 3) > 0) continue;
    const text = `control ${left}`;
    const kind = random.pick([taken, opened]);
    side.controlsSent.push(`${kind} ${text}`);
    side.end.control(kind, Buffer.from(text));
  }
  side.end.channel.end();
}

/** Reads all, and stops now and then. */
function read(side: Side, random: SeededRandom): void {
  const { channel } = side.end;
  channel.on('end', () => (side.hasEnded = true));
  channel.on('data', (piece: Buffer) => {
    side.read.update(piece);
    if (random.between(0, 5) > 0) return;
    channel.pause();
    setImmediate(() => channel.resume());
  });
}

/** Most bytes that wait between what a side has sent and what the other has consumed. */
function waitingBytes(from: Side, to: Side): number {
  const { consumed: first } = to.end.positions;
  return from.sizes.slice(first).reduce((sum, size) => sum + size, 0);
}

describe('createLeaseEnd()', () => {
  beforeAll(() => void vi.useFakeTimers({ toFake: ['performance'] }));
  afterAll(() => void vi.useRealTimers());

  it('carries bytes and control entries once and in order, whatever happens to entries on their way', async () => {
    for (let seed = 1; seed <= 250; seed += 1) {
      const random = seededRandom(seed);
      const { sides, carry } = joinedSides(random, { lossy: seed % 10 > 0 });
      const [first, second] = sides;
      const sizes = [0, 1, 10 * KIB, 300 * KIB, seed % 10 === 1 ? 3_000 * KIB : 500 * KIB] as const;
      const writing = sides.map((side) => write(side, random, random.pick(sizes)));
      for (const side of sides) read(side, random);
      let isWritten = false;
      void Promise.all(writing).then(() => (isWritten = true));
      for (let step = 0; step < 5_000; step += 1) {
        carry();
        await turn();
        for (const [from, to] of [sides, [second, first] as const])
          if (waitingBytes(from, to) > MOST_WAITING) expect.fail(`seed ${seed}: too many bytes wait`);
        if (isWritten && sides.every(({ hasEnded, end: { isSettled } }) => hasEnded && isSettled)) break;
      }
      for (const [from, to] of [sides, [second, first] as const]) {
        const outcome = { seed, hasEnded: to.hasEnded, sum: to.read.digest('hex'), controls: to.controls };
        const whole = { seed, hasEnded: true, sum: from.written.digest('hex'), controls: from.controlsSent };
        expect(outcome).toEqual(whole);
        expect(to.faults).toEqual([]);
      }
    }
  });

  it('a reader that never reads stops the writer at a window, and other leases go on', async () => {
    const random = seededRandom(1);
    const stuck = joinedSides(random, { lossy: false });
    const lively = joinedSides(random, { lossy: false });
    const [writer, reader] = stuck.sides;
    let taken = 0;
    for (let piece = 0; piece < 64; piece += 1)
      writer.end.channel.write(Buffer.alloc(100 * KIB), () => (taken += 100 * KIB));
    // One write that is larger than the window.
    writer.end.channel.write(Buffer.alloc(8_000 * KIB));
    read(lively.sides[1], random);
    void write(lively.sides[0], random, 2_000 * KIB);
    for (let step = 0; step < 200; step += 1) {
      stuck.carry();
      lively.carry();
      await turn();
    }
    expect(waitingBytes(writer, reader)).toBeLessThanOrEqual(1_200 * KIB);
    expect(taken).toBeLessThan(1_300 * KIB);
    expect(lively.sides[1].hasEnded).toBe(true);
    // It goes on when it is read at last.
    read(reader, random);
    for (let step = 0; step < 500; step += 1) {
      stuck.carry();
      await turn();
    }
    expect(taken).toBe(6_400 * KIB);
    expect([...writer.faults, ...reader.faults]).toEqual([]);
  });

  it('an exit and a complaint fit behind a full window', async () => {
    const { sides, carry } = joinedSides(seededRandom(1), { lossy: false });
    const [sandbox, client] = sides;
    for (let piece = 0; piece < 100; piece += 1) sandbox.end.channel.write(Buffer.alloc(63 * KIB));
    sandbox.end.channel.destroy();
    sandbox.end.control(exit, Buffer.alloc(ENTRY_BYTES, 'c'));
    for (let step = 0; step < 50; step += 1) {
      carry();
      await turn();
    }
    expect(client.faults).toEqual([]);
    expect(client.controls.length).toBe(1);
  });

  it('bytes that no one reads any more are consumed, so that the other side can end', async () => {
    const { sides, carry } = joinedSides(seededRandom(1), { lossy: false });
    const [writer, reader] = sides;
    void write(writer, seededRandom(2), 5_000 * KIB);
    reader.end.channel.destroy();
    for (let step = 0; step < 500 && !writer.end.isSettled; step += 1) {
      carry();
      await turn();
    }
    expect(writer.end.isSettled).toBe(true);
  });

  it('an exit without an end of the bytes ends them', async () => {
    const { end: own } = lonelySide();
    let hasEnded = false;
    own.channel.on('data', () => undefined).on('end', () => (hasEnded = true));
    own.take(exit, 0, Buffer.from('{}'));
    await turn();
    expect(hasEnded).toBe(true);
  });

  it('an error of the channel without a reader is no error of the process', async () => {
    const { end: own } = lonelySide();
    own.channel.destroy(new Error('lost'));
    await turn();
    expect(own.channel.destroyed).toBe(true);
  });

  describe('of the other side', () => {
    const number = (value: number): Buffer => {
      const bytes = Buffer.alloc(6);
      bytes.writeUIntBE(value, 0, 6);
      return bytes;
    };

    it('random lies are faults or ignored, and grow nothing', async () => {
      for (let seed = 1; seed <= 100; seed += 1) {
        const random = seededRandom(seed);
        let sentBytes = 0;
        const side = lonelySide((_kind, _number, bytes) => (sentBytes += bytes.length));
        side.end.channel.write(Buffer.alloc(random.pick([0, 1, 100 * KIB, 2_000 * KIB])));
        if (random.between(0, 1) === 1) read(side, random);
        let arrived = 0;
        const kinds = [data, data, data, end, taken, opened, refused, exit, consumed, again] as const;
        for (let lie = 0; lie < 300; lie += 1) {
          const { positions } = side.end;
          const numbers = [positions.arrived, 0, positions.arrived + 1, 2 ** 48 - 1, random.between(0, 50)] as const;
          const given = random.pick([0, 1, 6, 6, 100, ENTRY_BYTES] as const);
          const bytes = given === 6 ? number(random.pick(numbers)) : Buffer.alloc(given, random.between(0, 255));
          const before = positions.arrived;
          if (random.between(0, 9) > 0) side.end.take(random.pick(kinds), random.pick(numbers), bytes);
          else
            side.end.compare({
              sent: random.pick(numbers),
              arrived: random.pick(numbers),
              consumed: random.pick([0, 1, positions.sent, positions.sent + random.between(0, 1)]),
            });
          if (positions.arrived > before) arrived += bytes.length;
          if (lie % 50 === 0) await turn();
        }
        expect(side.faults.length).toBeLessThanOrEqual(1);
        expect(arrived).toBeLessThan(300 * ENTRY_BYTES);
        // No time passes, so a window is sent again at most once.
        expect(sentBytes).toBeLessThan(3 * MOST_WAITING);
      }
    });

    it.each<[string, (side: Side) => void]>([
      ['consumed what was not sent', ({ end: own }) => own.take(consumed, 0, number(1))],
      ['consumed more than was sent, in a beat', ({ end: own }) => own.compare({ sent: 0, arrived: 0, consumed: 7 })],
      ['a position of one byte', ({ end: own }) => own.take(consumed, 0, Buffer.alloc(1))],
      ['a request without a position', ({ end: own }) => own.take(again, 0, Buffer.alloc(0))],
      [
        'bytes after their end',
        ({ end: own }) => {
          own.take(end, 0, Buffer.alloc(0));
          own.take(data, 1, Buffer.alloc(1));
        },
      ],
      [
        'more than a window',
        ({ end: own }) => {
          for (let entry = 0; entry < 30; entry += 1) own.take(data, entry, Buffer.alloc(ENTRY_BYTES));
        },
      ],
      [
        'endless empty entries',
        ({ end: own }) => {
          for (let entry = 0; entry < 10_000; entry += 1) own.take(data, entry, Buffer.alloc(0));
        },
      ],
      [
        'endless control entries before bytes that no one reads',
        ({ end: own }) => {
          for (let entry = 0; entry < 100; entry += 1)
            own.take(entry < 2 ? data : opened, entry, Buffer.alloc(ENTRY_BYTES));
        },
      ],
    ])('%s: a fault, and nothing more is taken', (_lie, tell) => {
      const side = lonelySide();
      tell(side);
      const { arrived } = side.end.positions;
      side.end.take(taken, arrived, Buffer.alloc(0));
      expect(side.faults.length).toBe(1);
      expect(side.end.positions.arrived).toBe(arrived);
    });

    it('what it consumed does not go backwards', () => {
      const side = lonelySide();
      side.end.channel.write(Buffer.alloc(10));
      side.end.take(consumed, 0, number(1));
      side.end.take(consumed, 0, number(0));
      side.end.compare({ sent: 0, arrived: 0, consumed: 0 });
      expect(side.end.isSettled).toBe(true);
      expect(side.faults).toEqual([]);
    });

    it('many requests for the same bytes send them once', () => {
      let sentBytes = 0;
      const side = lonelySide((_kind, _number, bytes) => (sentBytes += bytes.length));
      side.end.channel.write(Buffer.alloc(900 * KIB));
      for (let request = 0; request < 10_000; request += 1) side.end.take(again, 0, number(request % 14));
      expect(sentBytes).toBeLessThan(2_000 * KIB);
      vi.advanceTimersByTime(1_000);
      side.end.take(again, 0, number(0));
      expect(sentBytes).toBeGreaterThan(2_000 * KIB);
    });

    it('a small entry does not hold the memory that it was read with', () => {
      const side = lonelySide();
      const read = Buffer.alloc(ENTRY_BYTES);
      side.end.take(data, 0, read.subarray(0, 10));
      read.fill(1);
      expect((side.end.channel.read() as Buffer).equals(Buffer.alloc(10))).toBe(true);
    });
  });
});
