import { Duplex } from 'node:stream';
import { ENTRY_BYTES, ENTRY_KIND, type EntryKind, isNumbered } from './entry.ts';

/** Bytes of one direction that the other side has not consumed. */
export const LEASE_WINDOW: number = 1024 * 1024;
/** After so many bytes, the other side is told that it may send more. */
const CONSUMED_BYTES: number = LEASE_WINDOW / 4;
/** Most bytes of one control entry: an exit with a complaint. */
const CONTROL_BYTES: number = ENTRY_BYTES;
/** Pause before the same entries are asked for once more. */
const AGAIN_MS = 250;
const NO_BYTES: Buffer = Buffer.alloc(0);

/** Positions of one end, by which both ends notice lost entries. */
export interface LeasePositions {
  /** Number of the next entry that is sent. */
  sent: number;
  /** Number of the first entry that has not arrived. */
  arrived: number;
  /** Number of the first entry that has not been consumed. */
  consumed: number;
}

/** Options of {@link createLeaseEnd}. */
export interface LeaseEndOptions {
  /** Sends an entry, which may be lost or repeated. */
  send(kind: EntryKind, number: number, bytes: Buffer): void;
  /** Called with each numbered entry but data and end, once and in order. */
  onControl(kind: EntryKind, bytes: Buffer): void;
  /** Called once when the other side breaks the rules. The end takes nothing more. */
  onFault(reason: string): void;
}

/** One end of the byte channel of a sandbox that runs on another host. */
export interface LeaseEnd {
  /** The bytes, in both directions. */
  readonly channel: Duplex;
  /** Sends a numbered entry. */
  control(kind: EntryKind, bytes?: Buffer): void;
  /** Takes an entry of the other side, except a kill or an unknown lease. */
  take(kind: EntryKind, number: number, bytes: Buffer): void;
  readonly positions: LeasePositions;
  /** Sends again, and asks again for, entries that are missing by the positions of the other side. */
  compare(theirs: LeasePositions): void;
  /** Whether the other side has consumed all that was sent. */
  readonly isSettled: boolean;
}

/** A numbered entry that waits for the other side. */
interface SentEntry {
  number: number;
  kind: EntryKind;
  bytes: Buffer;
}

/**
 * Creates one end of a lease. Entries may be lost, repeated and reordered on their way: the bytes arrive once and in order. What the other side
 * has not consumed is kept to be sent again, at most a window of it.
 */
export function createLeaseEnd({ send, onControl, onFault }: LeaseEndOptions): LeaseEnd {
  const unconsumed: SentEntry[] = [];
  const arrivals: { number: number; bytes: Buffer; kind: EntryKind }[] = [];
  const positions: LeasePositions = { sent: 0, arrived: 0, consumed: 0 };
  let unconsumedBytes = 0;
  let arrivedBytes = 0;
  let untoldBytes = 0;
  let goOn: (() => void) | undefined;
  let wantsBytes = false;
  let isBroken = false;
  let isFinished = false;
  let asked = { number: -1, at: 0 };

  const sendNumbered = (kind: EntryKind, bytes: Buffer): void => {
    const entry = { number: positions.sent, kind, bytes };
    positions.sent += 1;
    unconsumed.push(entry);
    unconsumedBytes += bytes.length;
    send(kind, entry.number, bytes);
  };
  const finish = (): void => {
    if (!isFinished) sendNumbered(ENTRY_KIND.end, NO_BYTES);
    isFinished = true;
  };
  const tell = (): void => {
    untoldBytes = 0;
    send(ENTRY_KIND.consumed, 0, numberBytes(positions.consumed));
  };
  const askAgain = (): void => {
    const at = performance.now();
    if (asked.number === positions.arrived && at - asked.at < AGAIN_MS) return;
    asked = { number: positions.arrived, at };
    send(ENTRY_KIND.again, 0, numberBytes(positions.arrived));
  };
  const fault = (reason: string): void => {
    if (isBroken) return;
    isBroken = true;
    onFault(reason);
  };

  /** Gives arrived bytes to the reader of the channel, as far as it wants them. */
  const deliver = (): void => {
    for (let first = arrivals[0]; first !== undefined; first = arrivals[0]) {
      const isData = first.kind === ENTRY_KIND.data && !channel.destroyed;
      if (isData && !wantsBytes) return;
      arrivals.shift();
      arrivedBytes -= first.bytes.length;
      positions.consumed = first.number + 1;
      untoldBytes += first.bytes.length;
      if (isData) wantsBytes = channel.push(first.bytes);
      else if (first.kind === ENTRY_KIND.end && !channel.destroyed) channel.push(null);
      if (untoldBytes >= CONSUMED_BYTES) tell();
    }
  };
  const takeNumbered = (kind: EntryKind, number: number, bytes: Buffer): void => {
    if (number < positions.arrived) return;
    if (number > positions.arrived) return askAgain();
    if (arrivedBytes + bytes.length > LEASE_WINDOW + ENTRY_BYTES) return fault('more bytes than its window');
    positions.arrived += 1;
    arrivals.push({ number, kind, bytes });
    arrivedBytes += bytes.length;
    if (kind !== ENTRY_KIND.data && kind !== ENTRY_KIND.end) onControl(kind, bytes);
    deliver();
  };
  const takeConsumed = (number: number): void => {
    if (number > positions.sent) return fault('it consumed what was not sent');
    while (unconsumed[0] !== undefined && unconsumed[0].number < number)
      unconsumedBytes -= unconsumed.shift()?.bytes.length ?? 0;
    if (unconsumedBytes >= LEASE_WINDOW) return;
    const resume = goOn;
    goOn = undefined;
    resume?.();
  };
  const sendAgain = (from: number): void => {
    for (const { number, kind, bytes } of unconsumed) if (number >= from) send(kind, number, bytes);
  };

  const channel = new Duplex({
    write(chunk: Buffer, _encoding, done) {
      for (let at = 0; at < chunk.length; at += ENTRY_BYTES)
        sendNumbered(ENTRY_KIND.data, chunk.subarray(at, at + ENTRY_BYTES));
      if (unconsumedBytes < LEASE_WINDOW) done();
      else goOn = done;
    },
    final(done) {
      finish();
      done();
    },
    read() {
      wantsBytes = true;
      deliver();
    },
    destroy(error, done) {
      finish();
      done(error);
      // What still arrives has no reader.
      deliver();
    },
  });

  return {
    channel,
    control: (kind, bytes = NO_BYTES) => sendNumbered(kind, bytes.subarray(0, CONTROL_BYTES)),
    take(kind, number, bytes) {
      if (isBroken) return;
      if (isNumbered(kind)) return takeNumbered(kind, number, bytes);
      const position = readNumber(bytes);
      if (position === undefined) return fault('a position that is no number');
      if (kind === ENTRY_KIND.consumed) takeConsumed(position);
      else if (kind === ENTRY_KIND.again) sendAgain(position);
    },
    positions,
    compare(theirs) {
      if (isBroken) return;
      takeConsumed(theirs.consumed);
      if (theirs.arrived < positions.sent) sendAgain(theirs.arrived);
      if (theirs.sent > positions.arrived) askAgain();
      if (untoldBytes > 0) tell();
    },
    get isSettled() {
      return unconsumed.length === 0;
    },
  };
}

function numberBytes(number: number): Buffer {
  const bytes = Buffer.allocUnsafe(6);
  bytes.writeUIntBE(number, 0, 6);
  return bytes;
}

function readNumber(bytes: Buffer): number | undefined {
  return bytes.length === 6 ? bytes.readUIntBE(0, 6) : undefined;
}
