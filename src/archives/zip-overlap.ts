import { quotedText } from '../contracts/quoted-text.ts';

/** Bytes of the header in front of an entry's data, without its name. */
const LOCAL_HEADER = 30;

interface Placed {
  filename: string;
  rawFilename: Uint8Array;
  offset: number;
  compressedSize: number;
}

/** Says whether the data of two entries lie in the same bytes, which a few of can be made to unpack to terabytes. */
export function overlapFault(entries: readonly Placed[]): string | undefined {
  let end = 0;
  for (const { filename, rawFilename, offset, compressedSize } of entries.toSorted((a, b) => a.offset - b.offset)) {
    if (offset < end) return `entries that lie in the same bytes, got ${quotedText(filename)}`;
    end = offset + LOCAL_HEADER + rawFilename.length + compressedSize;
  }
  return undefined;
}
