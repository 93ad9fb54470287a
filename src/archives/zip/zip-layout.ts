import { quotedText } from '../../contracts/text/quoted-text.ts';

/** Bytes of the header in front of an entry's data, without its name and what stands behind that, and its first four. */
const LOCAL_HEADER = 30;
const LOCAL_SIGNATURE = 0x0403_4b50;
/** What may stand in front of a descriptor. */
const DESCRIPTOR_SIGNATURE = 0x0807_4b50;

/** Where an entry lies, as the directory of its archive says. */
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

/** Byte of an archive at which the data of an entry begin, as the header in front of them says. */
export function dataOffset(archive: Uint8Array, { offset }: Pick<PlacedEntry, 'offset'>): number {
  const lengthAt = (at: number): number => (archive[offset + at] ?? 0) + (archive[offset + at + 1] ?? 0) * 256;
  return offset + LOCAL_HEADER + lengthAt(26) + lengthAt(28);
}

/** Says whether two entries lie in the same bytes, by which a few of them can be made to unpack to terabytes. */
export function overlapFault(
  archive: Uint8Array,
  entries: readonly PlacedEntry[],
  directory: number,
): string | undefined {
  let end = 0;
  for (const entry of byOffset(entries)) {
    if (entry.offset < end) return `entries that lie in the same bytes, got ${quotedText(entry.filename)}`;
    end = dataOffset(archive, entry) + entry.compressedSize;
    if (end > directory) return `an entry that lies in the list of entries, got ${quotedText(entry.filename)}`;
  }
  return undefined;
}

/**
 * Says whether there are bytes that belong to no entry: whoever reads an archive from its beginning may find a file there that its list has not.
 *
 * @param directory byte at which the list of entries begins
 */
export function gapFault(archive: Uint8Array, entries: readonly PlacedEntry[], directory: number): string | undefined {
  const sorted = byOffset(entries);
  for (const [index, entry] of sorted.entries()) {
    const end = dataOffset(archive, entry) + entry.compressedSize;
    const next = sorted[index + 1]?.offset ?? directory;
    if (next <= end || isDescriptor(archive.subarray(end, next), entry)) continue;
    return `bytes that belong to no entry, ${next - end} behind ${quotedText(entry.filename)}`;
  }
  return undefined;
}

/** Says whether a folder is a file in front of its data. Of files, the data are compared with the list when they are read. */
export function folderFault(archive: Uint8Array, entries: readonly PlacedEntry[]): string | undefined {
  const bytes = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
  const odd = entries.find(({ directory, offset, rawFilename, compressedSize, uncompressedSize }) => {
    if (!directory) return false;
    if (offset + LOCAL_HEADER > bytes.length || bytes.readUInt32LE(offset) !== LOCAL_SIGNATURE) return true;
    const begin = offset + LOCAL_HEADER;
    const name = bytes.subarray(begin, begin + bytes.readUInt16LE(offset + 26));
    const sizes = [bytes.readUInt32LE(offset + 18), bytes.readUInt32LE(offset + 22)];
    // Nothing, where they stand behind the data.
    const isSame = sizes.every((size, index) => size === 0 || size === [compressedSize, uncompressedSize][index]);
    return !name.equals(rawFilename) || !isSame;
  });
  return odd === undefined ? undefined : `a folder that is said to be something else, got ${quotedText(odd.filename)}`;
}

function byOffset(entries: readonly PlacedEntry[]): PlacedEntry[] {
  return entries.toSorted((a, b) => a.offset - b.offset);
}

/** What stands behind data whose size nobody knew in front of them: checksum and sizes, of four or eight bytes each. */
function isDescriptor(bytes: Uint8Array, { bitFlag, crc32 = 0, ...entry }: PlacedEntry): boolean {
  if (bitFlag?.dataDescriptor !== true) return false;
  const sizes = [entry.compressedSize, entry.uncompressedSize];
  return [4, 8].some((width) => {
    const plain = Buffer.alloc(4 + 2 * width);
    plain.writeUInt32LE(crc32, 0);
    // What is above 32 bits is above every limit.
    for (const [index, size] of sizes.entries()) plain.writeUInt32LE(size, 4 + index * width);
    const signature = Buffer.alloc(4);
    signature.writeUInt32LE(DESCRIPTOR_SIGNATURE);
    return plain.equals(bytes) || Buffer.concat([signature, plain]).equals(bytes);
  });
}
