import { randomUUID } from 'node:crypto';

/** Characters of a text that are written at once. */
const PIECE = 64 * 1024;

/**
 * The line of a message, in pieces: a text as long as a file is cut, so that it is never in memory a second and a third time.
 */
export function* jsonPieces(message: object): Generator<string> {
  const long: string[] = [];
  const mark = randomUUID();
  const json = JSON.stringify(message, (_key, value: unknown) => {
    if (typeof value !== 'string' || value.length <= PIECE) return value;
    long.push(value);
    return mark;
  });
  const between = json.split(mark);
  for (const [index, text] of between.entries()) {
    yield index === long.length ? `${text}\n` : text;
    const inside = long[index] ?? '';
    // A surrogate pair that is cut is written as two escapes, which a reader joins to the pair again.
    for (let from = 0; from < inside.length; from += PIECE)
      yield JSON.stringify(inside.slice(from, from + PIECE)).slice(1, -1);
  }
}
