/** Kinds of entries. Numbered ones arrive once and in order; the others may be lost or repeated. */
export const ENTRY_KIND = {
  /** A worker has taken the demand. */
  taken: 1,
  /** The sandbox is ready; JSON. */
  opened: 2,
  /** No sandbox was started; JSON of the error. */
  refused: 3,
  /** Bytes of the channel. */
  data: 4,
  /** No further bytes follow. */
  end: 5,
  /** The sandbox has ended; JSON. */
  exit: 6,
  /** The number of the first entry that the other side has not consumed. */
  consumed: 16,
  /** Asks for the entries from a number on. */
  again: 17,
  /** The lease is not known here. */
  gone: 18,
  /** Ends the sandbox. */
  kill: 19,
  /** Positions of all leases that two sides share; JSON. */
  beat: 20,
  /** Asks for the counters of the sandbox. */
  ask: 21,
  /** The counters; JSON. */
  counters: 22,
} as const;

/** A kind, by its number. */
export type EntryKind = (typeof ENTRY_KIND)[keyof typeof ENTRY_KIND];

/** One entry of a stream between a client and a worker. */
export interface LinkEntry {
  /** Id of the client, also in entries to it. */
  client: string;
  /** Id of the lease; {@link NO_LEASE} in a beat. */
  lease: string;
  kind: EntryKind;
  /** Position among the numbered entries of one direction of a lease; 0 for other entries. */
  number: number;
  bytes: Buffer;
}

/** The lease of entries that belong to no lease. */
export const NO_LEASE: string = '0'.repeat(32);
/** Most bytes of one entry. */
export const ENTRY_BYTES: number = 64 * 1024;

const ID_BYTES = 16;
const HEADER_BYTES = 1 + 6 + 2 * ID_BYTES;
const FIRST_UNNUMBERED = ENTRY_KIND.consumed;
const KINDS: ReadonlySet<number> = new Set(Object.values(ENTRY_KIND));

/** Whether entries of a kind arrive once and in order. */
export function isNumbered(kind: EntryKind): boolean {
  return kind < FIRST_UNNUMBERED;
}

/** The bytes of an entry: kind, number, client, lease, and its own bytes. */
export function packEntry({ client, lease, kind, number, bytes }: LinkEntry): Buffer {
  const packed = Buffer.allocUnsafe(HEADER_BYTES + bytes.length);
  packed.writeUInt8(kind);
  packed.writeUIntBE(number, 1, 6);
  packed.write(client, 7, ID_BYTES, 'hex');
  packed.write(lease, 7 + ID_BYTES, ID_BYTES, 'hex');
  bytes.copy(packed, HEADER_BYTES);
  return packed;
}

/** Reads an entry; undefined for bytes that no entry has. */
export function readEntry(packed: Buffer): LinkEntry | undefined {
  const kind = packed[0] ?? 0;
  if (packed.length < HEADER_BYTES || packed.length > HEADER_BYTES + ENTRY_BYTES || !KINDS.has(kind)) return undefined;
  const id = (from: number): string => packed.toString('hex', from, from + ID_BYTES);
  return {
    kind: kind as EntryKind,
    number: packed.readUIntBE(1, 6),
    client: id(7),
    lease: id(7 + ID_BYTES),
    bytes: packed.subarray(HEADER_BYTES),
  };
}
