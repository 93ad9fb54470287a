import { addPiece } from '../../../protocol/channel/add-piece.ts';

/** A whole line, or the mark of a line that was too long. */
export type SplitLine = Buffer | 'too-long';

/** Cuts a stream of bytes into lines, and never holds more than one line of the allowed length. */
export function createLineSplitter(maxBytes: number): (piece: Buffer) => SplitLine[] {
  let parts: Buffer[] = [];
  let held = 0;
  let skipping = false;
  const take = (part: Buffer): void => {
    if (skipping) return;
    held += part.length;
    if (held <= maxBytes) addPiece(parts, part);
    else {
      skipping = true;
      parts = [];
    }
  };
  return (piece) => {
    const lines: SplitLine[] = [];
    let start = 0;
    for (let end = piece.indexOf(10); end >= 0; end = piece.indexOf(10, start)) {
      take(piece.subarray(start, end));
      lines.push(skipping ? 'too-long' : Buffer.concat(parts));
      [parts, held, skipping] = [[], 0, false];
      start = end + 1;
    }
    const rest = piece.subarray(start);
    // A view of a few bytes would keep the whole piece in memory.
    if (rest.length > 0) take(start === 0 ? rest : Buffer.from(rest));
    return lines;
  };
}
