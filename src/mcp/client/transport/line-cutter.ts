import { addPiece } from '../../../protocol/channel/add-piece.ts';

const LINE_FEED = 0x0a;

/** Options of {@link createLineCutter}. */
export interface LineCutterOptions {
  /** The longest line. */
  maxBytes: number;
  /** Gets each line without its end. */
  take(line: Buffer): void;
  /** Creates the error for a longer line, which is thrown before more of it is kept. */
  tooLong(): Error;
}

/** Cuts input into lines, and keeps at most one unfinished line. */
export function createLineCutter({ maxBytes, take, tooLong }: LineCutterOptions): (chunk: Buffer) => void {
  let pieces: Buffer[] = [];
  let kept = 0;
  const keep = (piece: Buffer): void => {
    kept += piece.length;
    if (kept > maxBytes) {
      pieces = [];
      throw tooLong();
    }
    if (piece.length > 0) addPiece(pieces, piece);
  };
  return (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      keep(chunk.subarray(start, end));
      const line = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
      [pieces, kept, start] = [[], 0, end + 1];
      take(line);
    }
    keep(chunk.subarray(start));
  };
}
