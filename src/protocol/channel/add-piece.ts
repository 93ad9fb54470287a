/** Pieces that are joined make none larger than this. */
const JOINED_BYTES = 64 * 1024;

/**
 * Adds a piece to those before it. Small ones are joined: a sender that sends its bytes one by one would otherwise cost
 * hundreds of bytes for each.
 */
export function addPiece(pieces: Buffer[], piece: Buffer): void {
  let joined = piece;
  for (let before = pieces.at(-1); before !== undefined; before = pieces.at(-1)) {
    if (before.length > joined.length || before.length + joined.length > JOINED_BYTES) break;
    pieces.pop();
    joined = Buffer.concat([before, joined]);
  }
  pieces.push(joined);
}
