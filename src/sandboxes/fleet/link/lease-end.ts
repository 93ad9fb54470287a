import { Duplex } from 'node:stream';
import { ENTRY_BYTES, ENTRY_KIND, type EntryKind, isNumbered } from './entry.ts';

/** Bytes of one direction that the other side has not consumed. */
export const LEASE_WINDOW: number = 1024 * 1024;
/** Memory of an entry beside its bytes, which counts as well: a window may hold many small entries. */
const ENTRY_COST = 256;
/** Most bytes of a direction that wait: a window, the entry that filled it, and control entries, which no window stops. */
export const MOST_WAITING: number = LEASE_WINDOW + 4 * (ENTRY_BYTES + ENTRY_COST);
/** After so many bytes, the other side is told that it may send more. */
const CONSUMED_BYTES: number = LEASE_WINDOW / 4;
/** Most bytes of one control entry: an exit with a complaint. */
const CONTROL_BYTES: number = ENTRY_BYTES;
/** Pause before the same entries are asked for once more. */
const AGAIN_MS = 250;
/** Pause before entries are sent once more: each request costs a window. */
const SEND_AGAIN_MS = 100;
/** After these, the other side has nothing to send, and waits only to hear that they were consumed. */
const LAST_KINDS: ReadonlySet<EntryKind> = new Set([ENTRY_KIND.refused, ENTRY_KIND.end, ENTRY_KIND.exit]);
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
  /** Asks for entries that are missing by the positions of the other side. */
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
  /** The end of their bytes has arrived, and the reader has it. */
  let isEnded = false;
  let isReadEnded = false;
  let asked = { number: -1, at: 0 };
  let sentAgainAt = Number.NEGATIVE_INFINITY;

  const sendNumbered = (kind: EntryKind, bytes: Buffer): void => {
    const entry = { number: positions.sent, kind, bytes };
    positions.sent += 1;
    unconsumed.push(entry);
    unconsumedBytes += costOf(bytes);
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

  const endReading = (): void => {
    if (!isReadEnded) channel.push(null);
    isReadEnded = true;
  };
  /** Gives arrived bytes to the reader of the channel, as far as it wants them. */
  const deliver = (): void => {
    for (let first = arrivals[0]; first !== undefined; first = arrivals[0]) {
      const isData = first.kind === ENTRY_KIND.data && !channel.destroyed;
      if (isData && !wantsBytes) return;
      arrivals.shift();
      arrivedBytes -= costOf(first.bytes);
      positions.consumed = first.number + 1;
      untoldBytes += costOf(first.bytes);
      const isLast = LAST_KINDS.has(first.kind);
      if (isData) wantsBytes = channel.push(first.bytes);
      else if (isLast && !channel.destroyed) endReading();
      if (isLast || untoldBytes >= CONSUMED_BYTES) tell();
    }
  };
  const takeNumbered = (kind: EntryKind, number: number, bytes: Buffer): void => {
    if (number < positions.arrived) return;
    if (number > positions.arrived) return askAgain();
    if (arrivedBytes + costOf(bytes) > MOST_WAITING) return fault('more bytes than its window');
    const isOfChannel = kind === ENTRY_KIND.data || kind === ENTRY_KIND.end;
    if (isOfChannel && isEnded) return fault('bytes after their end');
    isEnded ||= kind === ENTRY_KIND.end;
    positions.arrived += 1;
    // A copy: a small entry would hold the memory of all that was read with it.
    arrivals.push({ number, kind, bytes: Buffer.from(bytes) });
    arrivedBytes += costOf(bytes);
    if (!isOfChannel) onControl(kind, bytes);
    deliver();
  };
  const takeConsumed = (number: number): void => {
    if (number > positions.sent) return fault('it consumed what was not sent');
    for (let first = unconsumed[0]; first !== undefined && first.number < number; first = unconsumed[0]) {
      unconsumed.shift();
      unconsumedBytes -= costOf(first.bytes);
    }
    const resume = goOn;
    goOn = undefined;
    resume?.();
  };
  const sendAgain = (from: number): void => {
    const at = performance.now();
    if (at - sentAgainAt < SEND_AGAIN_MS) return;
    sentAgainAt = at;
    for (const { number, kind, bytes } of unconsumed) if (number >= from) send(kind, number, bytes);
  };

  const channel = new Duplex({
    write(chunk: Buffer, _encoding, done) {
      let at = 0;
      const sendOn = (): void => {
        for (; at < chunk.length && unconsumedBytes < LEASE_WINDOW; at += ENTRY_BYTES)
          sendNumbered(ENTRY_KIND.data, chunk.subarray(at, at + ENTRY_BYTES));
        if (unconsumedBytes < LEASE_WINDOW) done();
        else goOn = sendOn;
      };
      sendOn();
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
      goOn = undefined;
      finish();
      done(error);
      // What still arrives has no reader.
      deliver();
    },
  });
  // It may break before it has a reader, who then sees it closed.
  channel.on('error', () => undefined);

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
      // What has not arrived there is on its way, or is asked for by the other side.
      if (theirs.sent > positions.arrived) askAgain();
      if (untoldBytes > 0) tell();
    },
    get isSettled() {
      return unconsumed.length === 0;
    },
  };
}

function costOf(bytes: Buffer): number {
  return bytes.length + ENTRY_COST;
}

function numberBytes(number: number): Buffer {
  const bytes = Buffer.allocUnsafe(6);
  bytes.writeUIntBE(number, 0, 6);
  return bytes;
}

function readNumber(bytes: Buffer): number | undefined {
  return bytes.length === 6 ? bytes.readUIntBE(0, 6) : undefined;
}
