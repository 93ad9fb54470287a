const CONTEXT = 2;
const LOOK_AHEAD = 200;
const SHOWN = 12;
const WIDTH = 200;

/**
 * Formats the first difference of two texts as one short unified hunk: at most 12 lines of each side, 200 characters a line.
 *
 * @param expected lines of the one text, shown with `-`
 * @param actual lines of the other, shown with `+`
 * @returns the hunk; empty when the lines are equal
 */
export function firstDifference(expected: readonly string[], actual: readonly string[]): string {
  let start = 0;
  while (start < expected.length && start < actual.length && expected[start] === actual[start]) start += 1;
  if (start === expected.length && start === actual.length) return '';
  const { removed, added } = hunkSize(expected, actual, start);
  const before = Math.max(0, start - CONTEXT);
  return [
    `@@ -${start + 1},${removed} +${start + 1},${added} @@`,
    ...shown(expected.slice(before, start), ' '),
    ...shown(expected.slice(start, start + removed), '-'),
    ...shown(actual.slice(start, start + added), '+'),
    ...shown(expected.slice(start + removed, start + removed + CONTEXT), ' '),
  ].join('\n');
}

/** The smallest number of lines to skip on both sides until they match again; without a match, all remaining lines. */
function hunkSize(
  expected: readonly string[],
  actual: readonly string[],
  start: number,
): { removed: number; added: number } {
  const left = expected.length - start;
  const right = actual.length - start;
  for (let total = 1; total <= Math.min(LOOK_AHEAD, left + right); total += 1) {
    for (let removed = Math.max(0, total - right); removed <= Math.min(total, left); removed += 1) {
      const added = total - removed;
      const bothEnd = removed === left && added === right;
      if (bothEnd || (removed < left && expected[start + removed] === actual[start + added])) return { removed, added };
    }
  }
  return { removed: left, added: right };
}

function shown(lines: readonly string[], mark: string): string[] {
  const kept = lines.slice(0, SHOWN).map((line) => mark + (line.length > WIDTH ? `${line.slice(0, WIDTH)}…` : line));
  return lines.length > SHOWN ? [...kept, `${mark}… ${lines.length - SHOWN} more lines`] : kept;
}
