/** Largest joined piece. */
const JOINED_BYTES = 64 * 1024;

/**
 * Appends a piece to a list and joins small neighbors. A sender of single bytes would otherwise cost hundreds of bytes of memory for
 * each byte.
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
