/** Shortest name that is compared as a part of another name: `timeout` of `runTimeoutMs`. */
const PART_LENGTH = 4;

/**
 * Finds the known name that is nearest to a misspelt one.
 *
 * @param name the misspelt name
 * @param known known names, with dots for nested ones; only the last part is compared
 * @returns the nearest name; undefined if no name is near
 */
export function nearName(name: string, known: readonly string[]): string | undefined {
  const given = plain(name);
  let best: { name: string; distance: number } | undefined;
  for (const candidate of known) {
    const distance = distanceTo(given, plain(candidate.slice(candidate.lastIndexOf('.') + 1)));
    if (distance !== undefined && (best === undefined || distance < best.distance))
      best = { name: candidate, distance };
  }
  return best?.name;
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/** Undefined if the names are not near. A part of a name has distance 3, one more than the largest edit distance. */
function distanceTo(given: string, candidate: string): number | undefined {
  const most = Math.min(2, Math.floor(given.length / 3));
  const distance = editDistance(given, candidate);
  if (distance <= most) return distance;
  const isPart = given.length >= PART_LENGTH && candidate.includes(given);
  return isPart ? 3 : undefined;
}

/** Fewest insertions, deletions, substitutions and swaps of neighbours between two texts (optimal string alignment). */
function editDistance(from: string, to: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1];
      let least = Math.min(
        at(previous, column) + 1,
        at(current, column - 1) + 1,
        at(previous, column - 1) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (swapped) least = Math.min(least, at(before, column - 2) + 1);
      current.push(least);
    }
    before = previous;
    previous = current;
  }
  return at(previous, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
