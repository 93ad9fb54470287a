import { quotedText } from '../../contracts/text/quoted-text.ts';

/** Bytes of a local header without name and extra field, and its signature. */
const LOCAL_HEADER = 30;
const LOCAL_SIGNATURE = 0x0403_4b50;
/** Optional signature of a data descriptor. */
const DESCRIPTOR_SIGNATURE = 0x0807_4b50;

/** Position of an entry by the directory of its archive. */
export interface PlacedEntry {
  filename: string;
  rawFilename: Uint8Array;
  directory: boolean;
  offset: number;
  compressedSize: number;
  uncompressedSize: number;
  crc32?: number | undefined;
  bitFlag?: { dataDescriptor: boolean };
}

/** Offset of the data of an entry, by its local header. */
export function dataOffset(archive: Uint8Array, { offset }: Pick<PlacedEntry, 'offset'>): number {
  const lengthAt = (at: number): number => (archive[offset + at] ?? 0) + (archive[offset + at + 1] ?? 0) * 256;
  return offset + LOCAL_HEADER + lengthAt(26) + lengthAt(28);
}

/** The fault of entries that use the same bytes: a few of them could unpack to terabytes. */
export function overlapFault(
  archive: Uint8Array,
  entries: readonly PlacedEntry[],
  directory: number,
): string | undefined {
  let end = 0;
  for (const entry of byOffset(entries)) {
    if (entry.offset < end) return `entries that use the same bytes, got ${quotedText(entry.filename)}`;
    end = dataOffset(archive, entry) + entry.compressedSize;
    if (end > directory) return `an entry inside the directory of the archive, got ${quotedText(entry.filename)}`;
  }
  return undefined;
}

/**
 * The fault of bytes outside of all entries: a program that reads the archive from its beginning may find an unlisted file there.
 *
 * @param directory offset of the directory
 */
export function gapFault(archive: Uint8Array, entries: readonly PlacedEntry[], directory: number): string | undefined {
  const sorted = byOffset(entries);
  for (const [index, entry] of sorted.entries()) {
    const end = dataOffset(archive, entry) + entry.compressedSize;
    const next = sorted[index + 1]?.offset ?? directory;
    if (next <= end || isDescriptor(archive.subarray(end, next), entry)) continue;
    return `bytes that belong to no entry, ${next - end} after ${quotedText(entry.filename)}`;
  }
  return undefined;
}

/** The fault of a folder whose local header differs from the directory. Files are compared when they are read. */
export function folderFault(archive: Uint8Array, entries: readonly PlacedEntry[]): string | undefined {
  const bytes = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
  const odd = entries.find(({ directory, offset, rawFilename, compressedSize, uncompressedSize }) => {
    if (!directory) return false;
    if (offset + LOCAL_HEADER > bytes.length || bytes.readUInt32LE(offset) !== LOCAL_SIGNATURE) return true;
    const begin = offset + LOCAL_HEADER;
    const name = bytes.subarray(begin, begin + bytes.readUInt16LE(offset + 26));
    const sizes = [bytes.readUInt32LE(offset + 18), bytes.readUInt32LE(offset + 22)];
    // Sizes of zero: they follow the data in a descriptor.
    const isSame = sizes.every((size, index) => size === 0 || size === [compressedSize, uncompressedSize][index]);
    return !name.equals(rawFilename) || !isSame;
  });
  return odd === undefined
    ? undefined
    : `a folder whose local header differs from the directory, got ${quotedText(odd.filename)}`;
}

function byOffset(entries: readonly PlacedEntry[]): PlacedEntry[] {
  return entries.toSorted((a, b) => a.offset - b.offset);
}

/** Checks for a data descriptor, which follows data of a size unknown at its start: checksum, then sizes of four or eight bytes each. */
function isDescriptor(bytes: Uint8Array, { bitFlag, crc32 = 0, ...entry }: PlacedEntry): boolean {
  if (bitFlag?.dataDescriptor !== true) return false;
  const sizes = [entry.compressedSize, entry.uncompressedSize];
  return [4, 8].some((width) => {
    const plain = Buffer.alloc(4 + 2 * width);
    plain.writeUInt32LE(crc32, 0);
    // Sizes over 32 bits exceed every limit.
    for (const [index, size] of sizes.entries()) plain.writeUInt32LE(size, 4 + index * width);
    const signature = Buffer.alloc(4);
    signature.writeUInt32LE(DESCRIPTOR_SIGNATURE);
    return plain.equals(bytes) || Buffer.concat([signature, plain]).equals(bytes);
  });
}
