import { addPiece } from './channel/add-piece.ts';

const LINE_FEED = 0x0a;

/** Receiver of the lines of a stream. */
export interface LineTaker {
  /** Gets each line without its end. */
  line(line: Buffer): void;
  /** Called when a line is longer than allowed. Its bytes are dropped up to its end. */
  tooLong(): void;
}

/** Creates a function that cuts a byte stream into lines. It never holds more than one line of the allowed length. */
export function createLineSplitter(maxBytes: number, taker: LineTaker): (piece: Buffer) => void {
  let parts: Buffer[] = [];
  let held = 0;
  const take = (part: Buffer): void => {
    const fitted = held <= maxBytes;
    held += part.length;
    if (held <= maxBytes) return addPiece(parts, part);
    parts = [];
    if (fitted) taker.tooLong();
  };
  return (piece) => {
    let start = 0;
    for (let end = piece.indexOf(LINE_FEED); end >= 0; end = piece.indexOf(LINE_FEED, start)) {
      take(piece.subarray(start, end));
      const [line, isWhole] = [parts, held <= maxBytes];
      [parts, held, start] = [[], 0, end + 1];
      if (isWhole) taker.line(line.length === 1 ? (line[0] as Buffer) : Buffer.concat(line));
    }
    const rest = piece.subarray(start);
    // A view of a few bytes would keep the whole piece in memory.
    if (rest.length > 0) take(start === 0 ? rest : Buffer.from(rest));
  };
}
