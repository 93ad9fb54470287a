import { quotedText } from '../contracts/quoted-text.ts';

/** Bytes of the header in front of an entry's data, without its name and what stands behind that. */
const LOCAL_HEADER = 30;

/** Where an entry lies, as the directory of its archive says. */
export interface PlacedEntry {
  filename: string;
  offset: number;
  compressedSize: number;
}

/** Byte of an archive at which the data of an entry begin, as the header in front of them says. */
export function dataOffset(archive: Uint8Array, { offset }: PlacedEntry): number {
  const lengthAt = (at: number): number => (archive[offset + at] ?? 0) + (archive[offset + at + 1] ?? 0) * 256;
  return offset + LOCAL_HEADER + lengthAt(26) + lengthAt(28);
}

/** Says whether two entries lie in the same bytes, by which a few of them can be made to unpack to terabytes. */
export function overlapFault(archive: Uint8Array, entries: readonly PlacedEntry[]): string | undefined {
  let end = 0;
  for (const entry of entries.toSorted((a, b) => a.offset - b.offset)) {
    if (entry.offset < end) return `entries that lie in the same bytes, got ${quotedText(entry.filename)}`;
    end = dataOffset(archive, entry) + entry.compressedSize;
  }
  return undefined;
}
